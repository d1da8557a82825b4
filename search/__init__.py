"""Where documents come from: one provider a file behind one interface."""

from search.base import Search, SearchError, SearchOptions, SearchProvider, SearchResults, provider_class

__all__ = ["Search", "SearchError", "SearchOptions", "SearchProvider", "SearchResults", "provider_class"]
