# The rust-version of Cargo.toml.
ARG RUST=1.95

FROM rust:${RUST}-slim-bookworm AS build
WORKDIR /src
COPY . .
# What is in a cache is not in the image: the binary is copied out of it.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package iam-server \
    && cp target/release/iam-server /usr/local/bin/

# The same Debian: a binary does not run on an older C library than the one that it was linked with.
FROM debian:bookworm-slim
COPY --from=build /usr/local/bin/iam-server /usr/local/bin/
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
