"""The registry: finding environments, what is known of one, and the marks that its card carries. On the Hub's own API;
there is no index beside it."""
