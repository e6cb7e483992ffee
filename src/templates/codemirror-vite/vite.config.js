import { defineConfig } from 'vite'
import { openWeft } from './weft.js'

/** Adds Weft to the server of `npm run dev`. */
function weftPlugin() {
  let weft
  return {
    name: 'weft',
    async configureServer({ middlewares, httpServer }) {
      // After a change of this file, Vite opens a new server before it closes the old one.
      await globalThis.weft?.close()
      weft = await openWeft()
      globalThis.weft = weft
      middlewares.use(weft.handle)
      // Vite handles the other websockets.
      httpServer.on('upgrade', weft.handleUpgrade)
    },
    closeBundle: () => weft?.close(),
  }
}

export default defineConfig({
  plugins: [weftPlugin()],
  build: { chunkSizeWarningLimit: 1000 },
  server: {
    port: Number(process.env.PORT ?? 3000),
    strictPort: true,
    watch: { ignored: ['**/weft-data/**'] },
    // Vite serves all other files of this folder. The first entry has the documents and the credentials of Weft.
    fs: { deny: ['**/weft-data/**', '.env', '.env.*', '*.{crt,pem}', '**/.git/**'] },
  },
})
