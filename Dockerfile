FROM node:22-slim AS build
WORKDIR /weft
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci
COPY src src
RUN npm run build && npm prune --omit=dev --omit=optional

FROM node:22-slim
ENV NODE_ENV=production WEFT_DATA_DIR=/data
WORKDIR /weft
COPY --from=build /weft/package.json ./
COPY --from=build /weft/node_modules node_modules
COPY --from=build /weft/dist dist
RUN mkdir -p /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:8787/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "dist/main.js", "serve"]
