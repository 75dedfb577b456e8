# The rust-version of Cargo.toml. Base images are pinned by digest: a tag can be moved to another image. The digest decides, so
# another version needs another digest.
ARG RUST=1.95-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082

FROM rust:${RUST} AS build
WORKDIR /src
COPY . .
# What is in a cache is not in the image: the binary is copied out of it.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package iam-server \
    && cp target/release/iam-server /usr/local/bin/

# The same Debian: a binary does not run on an older C library than the one that it was linked with.
FROM debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
COPY --from=build /usr/local/bin/iam-server /usr/local/bin/
# By these, the server trusts receivers of webhooks and mail servers.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY deploy/healthcheck /usr/local/bin/
# For the migration: the grants must be those of the release that migrates.
COPY iam-store-postgres/grants.sql /usr/local/share/iam-server/
RUN install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/iam
# By number: Kubernetes cannot tell from a name that it is not root.
USER 10001:10001
# The default database is iam.db in the working directory. IAM_DATABASE_URL is not set here, because the environment
# would win over a settings file.
WORKDIR /var/lib/iam
VOLUME /var/lib/iam
ENV IAM_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["healthcheck"]
ENTRYPOINT ["iam-server"]
