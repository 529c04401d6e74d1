# Of llama-cpp-python only what the package loads: llama and ggml. The other two libraries
# (llama.cpp's helpers for its own programs, and images) are more than half of the
# compilation. Those that remain are compiled by the same commands as without this file.
# A variable, since llama-cpp-python overrules -DLLAMA_BUILD_COMMON=OFF.
set(LLAMA_BUILD_COMMON OFF)
set(LLAVA_BUILD OFF)
