"""The adapter: the policies of a bundle applied to a running agent and real providers."""
