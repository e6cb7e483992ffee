// Starts the built server of this repository in memory. Checks that weft_api.py is current, and runs the story.
// With the argument `generate`, it writes weft_api.py instead. Skips everything without Python 3.11.
import { spawnSync } from 'node:child_process'
import { startWeft } from '../client/weft-process.js'

const folder = new URL('.', import.meta.url)

function python(args, env = {}) {
  return spawnSync('python3', args, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } }).status
}

if (python(['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']) !== 0) {
  console.log('skipped: there is no python3 of version 3.11 or later')
} else {
  const weft = await startWeft()
  try {
    const env = {
      PYTHONDONTWRITEBYTECODE: '1',
      WEFT_URL: weft.url,
      WEFT_API_KEY: weft.apiKey,
      WEFT_AUTH_TOKEN: weft.authToken,
    }
    const runs =
      process.argv[2] === 'generate' ? [['generate.py']] : [['generate.py', '--check'], ['story.py']]
    for (const args of runs) if (python(args, env) !== 0) process.exitCode = 1
  } finally {
    await weft.stop()
  }
}
