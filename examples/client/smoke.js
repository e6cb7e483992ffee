// Runs the story against a temporary server.
import { startWeft } from './weft-process.js'

const weft = await startWeft()
Object.assign(process.env, {
  WEFT_URL: weft.url,
  WEFT_API_KEY: weft.apiKey,
  WEFT_AUTH_TOKEN: weft.authToken,
})
try {
  await import('./story.ts')
} finally {
  await weft.stop()
}
