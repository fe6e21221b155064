# The newest release of Node that is supported for years (LTS).
FROM node:24.18.0-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
# What only the build needs does not go into the image.
RUN npm run build && node tools/setup/speech_models.mjs && node tools/setup/meaning_model.mjs && \
  test -d models/moonshine-tiny && test -d models/sentence-encoder-lite && chmod +x dist/tools/cli/main.js && \
  rm -rf node_modules/esbuild node_modules/@esbuild node_modules/preact node_modules/@preact node_modules/lean-qr node_modules/uplot

FROM node:24.18.0-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 UV_THREADPOOL_SIZE=16
WORKDIR /app
# `spool models install` unpacks archives with it.
RUN apt-get update && apt-get install -y --no-install-recommends bzip2 && rm -rf /var/lib/apt/lists/*
# Redis is not in the image: it comes from compose.yaml, or from wherever REDIS_URL points.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/models ./models
# `docker compose exec server spool server check` asks this server by its own operator port.
RUN rm -rf dist/test && ln -s /app/dist/tools/cli/main.js /usr/local/bin/spool && \
  mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 8443 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT || 9090}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=64", "dist/src/main.js"]
