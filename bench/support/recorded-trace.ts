import { join } from 'node:path'
import { yWebsocketMessages } from '../../src/cli/bench/client-protocol.ts'
import { type EditTrace, readTrace } from '../../src/cli/bench/trace.ts'

/** File with the recorded writing session of a paper. It is not in the repository. */
export const recordedFile = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'shared',
  'data',
  'editing-trace.json.gz',
)

export const recordedTrace = (keystrokes: number): EditTrace => readTrace(keystrokes, recordedFile)

/** Encodes an update as a message of y-websocket. */
export const updateMessage = (update: Uint8Array): Uint8Array => yWebsocketMessages.update('', update)
