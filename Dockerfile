# syntax=docker/dockerfile:1
# For linux/amd64 and linux/arm64. The built files are equal on both, so the first stage runs on the machine that builds.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /weft
COPY package.json package-lock.json .npmrc tsconfig.json ./
# Without scripts, because `prepare` needs the sources. They are copied later, so that a change of them installs nothing
# again. The packages contain their binaries.
RUN npm ci --ignore-scripts
COPY src src
RUN npm run build && rm -r dist/packages && node --import tsx src/build/image-manifest.ts > /tmp/package.json \
  && node --import tsx src/build/image-manifest.ts libraries > /tmp/libraries.json
# The SBOM lists all libraries of the server, with their licenses and hashes. For package.json, most of them are
# development packages, because dist contains them. So the SBOM has a manifest of its own.
RUN mv /tmp/libraries.json package.json && npm prune --omit=optional \
  && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json
# dist contains most libraries. Only the others remain in node_modules.
RUN mv /tmp/package.json . && npm prune --omit=optional && find node_modules -type d -empty -delete

FROM node:24-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Weft" \
  org.opencontainers.image.description="Self-hosted realtime engine for Yjs documents" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="docker.io/library/node:24-slim"
# Other containers and the ports of the host can connect.
ENV NODE_ENV=production WEFT_DATA_DIR=/data WEFT_HOST=0.0.0.0
WORKDIR /weft
# The server needs no package manager.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn*
# Volumes for data and backups take the owner and the mode of these folders.
RUN install -d -o 1000 -g 1000 -m 700 /data /backups
COPY --from=build /weft/package.json /weft/sbom.cdx.json ./
COPY --from=build /weft/node_modules node_modules
COPY --from=build /weft/dist dist
# The user `node` of the base image. The number shows Kubernetes that it is not root (runAsNonRoot).
USER 1000:1000
VOLUME /data
EXPOSE 8787
# A large store takes time to open. The server is then unhealthy only after the start period.
HEALTHCHECK --interval=10s --timeout=3s --start-period=2m CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WEFT_PORT || 8787) + '/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "dist/main.js", "serve"]
