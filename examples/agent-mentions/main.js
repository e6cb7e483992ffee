// Starts the host. Ctrl-C ends it.
import { readClientOptions } from 'weft-server'
import { createClient } from 'weft-server/client'
import { followMentions } from './mentions.js'

const options = await readClientOptions({ dataDir: '../../data' })
const ending = new AbortController()
process.once('SIGINT', () => ending.abort())
process.once('SIGTERM', () => ending.abort())
await followMentions(createClient(options), {
  url: options.url,
  cursorFile: process.env.EXAMPLE_CURSOR_FILE ?? '.cursor',
  signal: ending.signal,
})
