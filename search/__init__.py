"""Where documents come from: one provider a file behind one interface."""

from search.base import SearchProvider, SearchResults, provider_class

__all__ = ["SearchProvider", "SearchResults", "provider_class"]
