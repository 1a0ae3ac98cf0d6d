"""Running environments: contracts, loader, trust, pool and rollouts."""
