"""The query language: boolean queries as trees and as text, languages, and the filters that queries imply. Pure."""
