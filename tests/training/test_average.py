"""Two adapters put together: between them, at a rank."""

from __future__ import annotations

import pytest
import torch

from training.adapter.average import between


def halves(seed: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    a = torch.randn(rank, 24, generator=drawn)
    return a, torch.randn(40, rank, generator=drawn)


def product(adapter: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    return adapter[1] @ adapter[0]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_what_fits_the_rank_is_exact(share: float) -> None:
    first = halves(1, 3)
    wide = halves(2, 8)
    # Of rank 5, so that with the first one's 3 the second one's 8 are enough.
    second = (torch.cat([wide[0][:5], torch.zeros(3, 24)]), wide[1])
    found = between(first, second, share)
    assert [tuple(half.shape) for half in found] == [(8, 24), (40, 8)]
    wanted = (1 - share) * product(first) + share * product(second)
    torch.testing.assert_close(product(found), wanted, atol=1e-4, rtol=1e-4)


def test_what_does_not_fit_keeps_the_largest_part() -> None:
    first, second = halves(1, 6), halves(2, 6)
    wanted = (product(first) + product(second)) / 2
    sizes = torch.linalg.svdvals(wanted)
    missing = torch.linalg.norm(product(between(first, second, 0.5)) - wanted)
    # No map of rank 6 is nearer: Eckart and Young 1936.
    torch.testing.assert_close(missing, torch.linalg.norm(sizes[6:]), atol=1e-3, rtol=1e-3)
