# The rust-version of Cargo.toml. Base images are pinned by digest: a tag can be moved to another image. The digest decides, so
# another version needs another digest.
ARG RUST=1.95-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082

FROM rust:${RUST} AS build
WORKDIR /src
COPY . .
# What is in a cache is not in the image. The script installs what it needs, and makes the root file system of the image.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    DIST_ARCHS="$(uname -m)" scripts/dist binaries roots \
    && mkdir /image \
    && tar --extract --file "target/dist-work/$(uname -m)/image/root.tar" --directory /image

# The program needs no library. Beside it are certificates, the grants, and busybox for the migration.
# `scripts/dist images` builds this stage alone.
FROM scratch
COPY --from=build /image /
ENV PATH=/usr/local/bin:/bin
# By number: Kubernetes cannot tell from a name that it is not root.
USER 10001:10001
# The default database is iam.db in the working directory. IAM_DATABASE_URL is not set here, because the environment
# would win over a settings file.
WORKDIR /var/lib/iam
VOLUME /var/lib/iam
ENV IAM_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["iam-server", "healthcheck"]
ENTRYPOINT ["iam-server"]
