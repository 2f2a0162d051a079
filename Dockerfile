# The server in an image of its own: docker build -t aw .
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --profile dist --locked -p aw

FROM debian:bookworm-slim
RUN useradd --system --create-home --home-dir /var/lib/aw aw
COPY --from=build /source/target/dist/aw /usr/local/bin/aw
USER aw
ENV AWEAVE_HOME=/var/lib/aw
VOLUME /var/lib/aw
EXPOSE 3456
# Beyond loopback a server wants tokens: `docker exec … aw token create` makes the first.
CMD ["aw", "serve", "--listen", "0.0.0.0:3456"]
