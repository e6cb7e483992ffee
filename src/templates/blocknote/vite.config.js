import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: { chunkSizeWarningLimit: 2000 },
  server: {
    watch: { ignored: ['**/weft-data/**'] },
    // Vite serves all other files of this folder. The first entry has the documents and the credentials of Weft.
    fs: { deny: ['**/weft-data/**', '.env', '.env.*', '*.{crt,pem}', '**/.git/**'] },
  },
})
