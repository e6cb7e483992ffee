// Starts the built server of this repository, in memory, on a free port.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

const root = new URL('../../', import.meta.url)

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** @returns {Promise<{ url: string, apiKey: string, authToken: string, stop(): Promise<void> }>} */
export async function startWeft(options = {}) {
  const port = await freePort()
  const [apiKey, authToken] = ['example-key', 'example-auth-token']
  const env = { ...process.env, WEFT_LOG_LEVEL: 'warn', ...options }
  const args = ['dist/main.js', 'serve', '--engine', 'memory', '--host', '127.0.0.1', '--port', String(port)]
  const server = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries++) {
    if ((await fetch(`${url}/readyz`).catch(() => null))?.ok) break
    if (tries > 400 || server.exitCode !== null)
      throw new Error('the server did not start: has it been built (`npm run build` at the top)?')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const stop = async () => {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
  return { url, apiKey, authToken, stop }
}
