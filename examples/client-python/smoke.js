// Starts a server in memory, writes weft_api.py, and runs the story, unless the argument is `generate`.
// Skips everything without Python 3.11.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'weft-server'

const folder = new URL('.', import.meta.url)

async function python(args, env = {}) {
  const run = spawn('python3', args, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } })
  const [code] = await once(run, 'exit').catch(() => [1])
  return code
}

if ((await python(['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'])) !== 0) {
  console.log('skipped: there is no python3 of version 3.11 or later')
} else {
  const weft = await createServer({ engine: 'memory', log: false })
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  try {
    const env = {
      PYTHONDONTWRITEBYTECODE: '1',
      WEFT_URL: url,
      WEFT_API_KEY: weft.credentials.apiKey,
      WEFT_AUTH_TOKEN: weft.credentials.authToken,
    }
    const programs = process.argv[2] === 'generate' ? ['generate.py'] : ['generate.py', 'story.py']
    for (const program of programs) if ((await python([program], env)) !== 0) process.exitCode = 1
  } finally {
    await weft.close()
  }
}
