import { jsonDepthExceeds } from '../../../model/json-depth.ts'
import { limits } from '../../../model/limits.ts'
import { defineOperation } from '../../operation.ts'
import { presenceDocument, presenceDocumentNotFound, presenceScope } from '../../schemas/presence-schema.ts'
import { invalidAt } from '../../validator.ts'

/** Characters of the name of an event. */
const eventLengthMax = 200
/** Encoded `data` of one message. */
const dataBytesMax = 65_536

export const broadcastLive = defineOperation({
  path: '/v2/livestate/broadcast',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'Say something to those who are connected',
  description:
    'Sends `{ "event", "data" }` to the clients that are connected to the document, or to one of its editors, and asked ' +
    'for it with `live=1` in their URL: viewers too, others never. It is not part of the document and kept nowhere: who ' +
    'is not connected, or reads too slowly at the moment, misses it. Nobody gets it twice. Of calls that come one after ' +
    'the other each client gets the messages in that order.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'event'],
    properties: {
      ...presenceDocument,
      editorId: {
        type: 'string',
        format: 'id',
        description: 'Only to clients of this editor; without it, of all editors of the document.',
      },
      event: {
        type: 'string',
        minLength: 1,
        maxLength: eventLengthMax,
        description: 'What it is: any name.',
        examples: ['build.finished'],
      },
      data: {
        description:
          `Anything, at most ${dataBytesMax} bytes as JSON and ${limits.jsonDepth} levels deep; null, when it is ` +
          'left out.',
        examples: [{ build: 7, passed: true }],
      },
    },
  },
  response: {
    type: 'object',
    required: ['success', 'delivered', 'missed'],
    properties: {
      success: { type: 'boolean', description: 'Always true: nobody need listen.' },
      delivered: { type: 'integer', description: 'Connections it was sent to.', examples: [2] },
      missed: {
        type: 'integer',
        description: 'Connections that asked for it and read too slowly to get it.',
        examples: [0],
      },
    },
  },
  errors: [presenceDocumentNotFound],
  async handler({ editorId = null, event, data = null, ...document }, { caller, services }) {
    const text = JSON.stringify({ event, data })
    checkData(JSON.stringify(data))
    const scope = await presenceScope(document, caller, services)
    const reach = await services.rooms.live.broadcastToAll(scope, editorId, text)
    return { message: `Sent to ${reach.delivered} connections.`, data: { success: true, ...reach } }
  },
})

/** @throws ApiError INVALID_ARGUMENT when it is too large, or nested too deeply */
function checkData(text: string): void {
  const problem =
    Buffer.byteLength(text) > dataBytesMax
      ? `must be at most ${dataBytesMax} bytes as JSON`
      : jsonDepthExceeds(text, limits.jsonDepth)
        ? `must be nested at most ${limits.jsonDepth} levels deep`
        : null
  if (problem !== null) throw invalidAt({ path: '/data/data', message: problem })
}
