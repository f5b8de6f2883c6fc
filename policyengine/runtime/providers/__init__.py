"""One module a provider, on the official SDKs; an SDK is imported when a provider is first used."""
