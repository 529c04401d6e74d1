"""What every room stands on: values, errors, files, text, what may be reached."""
