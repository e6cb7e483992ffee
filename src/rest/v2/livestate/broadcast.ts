import { json } from '../../../core/base/schema.ts'
import { jsonDepthExceeds } from '../../../core/model/json-depth.ts'
import { limits } from '../../../core/model/limits.ts'
import { defineOperation } from '../../operation.ts'
import { presenceScope } from '../../schemas/presence-schema.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'
import { invalidAt } from '../../validator.ts'

/** Maximum characters of the name of an event. */
const eventLengthMax = 200
/** Maximum bytes of the encoded `data` of one message. */
const dataBytesMax = 65_536

export const broadcastLive = defineOperation({
  path: '/v2/livestate/broadcast',
  auth: 'key',
  effect: 'once',
  runsAt: 'owner',
  audited: 'change',
  summary: 'Send a message to connected clients',
  description:
    'Sends `{ "event", "data" }` to the clients of the document, or of one of its editors, that have `live=1` in their ' +
    'URL, including viewers. The message is not part of the document and is not stored: a client that is not connected, ' +
    'or that reads too slowly at the moment, misses it. No client gets it twice. Each client gets the messages of ' +
    'consecutive calls in their order.',
  request: json.object(
    {
      ...documentPlace,
      event: json.text('Any name of the event.', {
        minLength: 1,
        maxLength: eventLengthMax,
        examples: ['build.finished'],
      }),
    },
    {
      editorId: json.id('Only to clients of this editor; default: clients of all editors of the document.'),
      data: {
        description:
          `Anything, at most ${dataBytesMax} bytes as JSON and ${limits.jsonDepth} levels deep; null, when it is ` +
          'left out.',
        examples: [{ build: 7, passed: true }],
      },
    },
  ),
  response: json.object({
    success: json.boolean('Always true, also without connected clients.'),
    delivered: json.integer('Number of connections to which the message was sent.', { examples: [2] }),
    missed: json.integer('Number of connections that missed the message because they read too slowly.', {
      examples: [0],
    }),
  }),
  errors: documentErrors,
  async handler({ editorId = null, event, data = null, ...document }, { caller, services }) {
    const text = JSON.stringify({ event, data })
    checkData(JSON.stringify(data))
    const scope = await presenceScope(document, caller, services)
    const reach = services.rooms.live.broadcast(scope, editorId, text)
    return { message: `Sent to ${reach.delivered} connections.`, data: { success: true, ...reach } }
  },
})

/**
 * Checks the data of a message.
 * @throws ApiError INVALID_ARGUMENT if the data is too large or nested too deeply
 */
function checkData(text: string): void {
  const problem =
    Buffer.byteLength(text) > dataBytesMax
      ? `must be at most ${dataBytesMax} bytes as JSON`
      : jsonDepthExceeds(text, limits.jsonDepth)
        ? `must be nested at most ${limits.jsonDepth} levels deep`
        : null
  if (problem !== null) throw invalidAt({ path: '/data/data', message: problem })
}
