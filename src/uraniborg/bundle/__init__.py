"""Bundles: the record of work as files that others can read, check and repeat without this program's data.

A bundle is a folder or a zip file. It has the searches, shelves, workflow runs, universes and measurements that were
chosen, a methods paragraph, the metadata of an RO-Crate, and the digest of every file. `uraniborg export` writes a
bundle, and `uraniborg verify` checks it and repeats what can be repeated.
"""
