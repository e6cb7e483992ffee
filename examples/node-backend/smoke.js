// Runs the story against a temporary server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startWeft } from './weft-process.js'

const weft = await startWeft()
const story = spawn(process.execPath, ['story.js'], {
  cwd: new URL('.', import.meta.url),
  env: { ...process.env, WEFT_URL: weft.url, WEFT_API_KEY: weft.apiKey, WEFT_AUTH_TOKEN: weft.authToken },
  stdio: 'inherit',
})
const [code] = await once(story, 'exit')
await weft.stop()
process.exit(code ?? 1)
