// Runs the story against a server in this process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'weft-server'

const weft = await createServer({ engine: 'memory', log: false })
const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
const { apiKey, authToken } = weft.credentials
const story = spawn(process.execPath, ['--import', 'tsx', 'story.ts'], {
  cwd: import.meta.dirname,
  env: { ...process.env, WEFT_URL: url, WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken },
  stdio: 'inherit',
})
const [code] = await once(story, 'exit')
await weft.close()
process.exitCode = code ?? 1
