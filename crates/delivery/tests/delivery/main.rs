//! Deliveries to a real HTTP server, checked by another implementation of the signature.

mod webhooks;
