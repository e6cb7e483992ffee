// Runs the story against a server of its own, which keeps nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const root = new URL('../../', import.meta.url)
const own = { WEFT_API_KEY: 'example-key', WEFT_AUTH_TOKEN: 'example-auth-token' }
const env = { ...process.env, ...own, WEFT_LOG_LEVEL: 'warn' }
const port = '18787'
const server = spawn(
  process.execPath,
  ['dist/main.js', 'serve', '--engine', 'memory', '--host', '127.0.0.1', '--port', port],
  {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  },
)
const url = `http://127.0.0.1:${port}`
for (let tries = 0; ; tries++) {
  if ((await fetch(`${url}/readyz`).catch(() => null))?.ok) break
  if (tries > 200 || server.exitCode !== null) throw new Error('the server did not start')
  await new Promise((resolve) => setTimeout(resolve, 50))
}
const story = spawn(process.execPath, ['story.js'], {
  cwd: new URL('.', import.meta.url),
  env: { ...env, WEFT_URL: url },
  stdio: 'inherit',
})
const [code] = await once(story, 'exit')
server.kill('SIGTERM')
await once(server, 'exit')
process.exit(code ?? 1)
