// A short run against a server in this process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'weft-server'

const weft = await createServer({ engine: 'memory', log: false })
const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
const { apiKey, authToken } = weft.credentials
const flags = ['--url', url, '--documents', '2', '--clients', '8', '--seconds', '1']
const load = spawn(process.execPath, ['main.js', ...flags], {
  cwd: import.meta.dirname,
  env: { ...process.env, WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken },
  stdio: 'inherit',
})
const [code] = await once(load, 'exit')
await weft.close()
process.exitCode = code ?? 1
