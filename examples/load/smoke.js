// A short run against a temporary server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startWeft } from './weft-process.js'

const weft = await startWeft()
const flags = ['--url', weft.url, '--documents', '2', '--clients', '8', '--seconds', '1']
const load = spawn(process.execPath, ['main.js', ...flags], {
  cwd: new URL('.', import.meta.url),
  env: { ...process.env, WEFT_API_KEY: weft.apiKey, WEFT_AUTH_TOKEN: weft.authToken },
  stdio: 'inherit',
})
const [code] = await once(load, 'exit')
await weft.stop()
process.exit(code ?? 1)
