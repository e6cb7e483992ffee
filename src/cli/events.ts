import { Command } from 'commander'
import type { OnlineServer } from '../capabilities/transfer/documents/rest-client.ts'
import { messageIdStart } from '../capabilities/webhooks/deliveries/delivery-records.ts'
import type { RoutedEvent } from '../capabilities/webhooks/event-routing.ts'
import { eventAsSent, explainEvent } from '../capabilities/webhooks/explain.ts'
import { escapeControls } from '../core/base/text.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { exhaustedType } from '../core/events/outbound-event.ts'
import { printResult } from './command-line/command-io.ts'
import {
  type EndpointExplanation,
  eventOfActivity,
  eventOfAnyActivity,
  type FoundMessage,
  findMessage,
  requireEndpoint,
  requirePlace,
  webhookConfigOf,
  withLastFailures,
} from './event-lookup.ts'
import { requireServer, type ServerFlags, withServerFlags } from './location/location.ts'

interface Flags extends ServerFlags {
  readonly type?: string
  readonly document?: string
  readonly endpoint?: string
  readonly json?: true
}

/** Creates the command `weft events`, which explains webhook deliveries. */
export const eventsCommand = (): Command =>
  new Command('events').description('Explain webhook events of a running server.').addCommand(whyCommand())

function whyCommand(): Command {
  return withServerFlags(new Command('why'))
    .description(
      'Explain for each webhook endpoint why it gets an event or not, by the current configuration; or show the ' +
        'outcome of a message.',
    )
    .usage('[options] [organization] <id> | [options] <organization> --type <type>')
    .argument(
      '<organization|id>',
      'Id of the organization. Without --type, it may be omitted: the command then searches all organizations of the API key.',
    )
    .argument(
      '[id]',
      'Id of the activity, as `/v2/activities/get` returns it, or of the message (`messageId` of a log line).',
    )
    .option('--type <type>', 'Type of the event, such as comment.add (default: that of the activity).')
    .option('--document <id>', 'Id of the document (default: that of the activity).')
    .option('--endpoint <id>', 'Endpoint that failed, for the type message.attempt.exhausted.')
    .option('--json', 'Print JSON.')
    .action(async (first: string, second: string | undefined, flags: Flags) => {
      const server = await requireServer(flags)
      const id = second ?? first
      if (id.startsWith(messageIdStart) && flags.type === undefined) {
        const message = await findMessage(server, id)
        return printResult(flags.json ? JSON.stringify(message) : messageAsText(message))
      }
      const event = eventAsSent(await eventOf(server, first, second, flags))
      await requirePlace(server, event)
      const config = await webhookConfigOf(server)
      requireEndpoint(config, event.failedEndpointId)
      const endpoints = await withLastFailures(server, explainEvent(config, event))
      const isActual = second !== undefined || flags.type === undefined
      printResult(flags.json ? JSON.stringify({ ...event, endpoints }) : asText(event, endpoints, isActual))
    })
}

/**
 * Returns the event that the arguments specify.
 * @throws ConfigError, StorageError
 */
async function eventOf(
  server: OnlineServer,
  first: string,
  second: string | undefined,
  { type, document, endpoint }: Flags,
): Promise<RoutedEvent> {
  const failedEndpointId = endpoint ?? null
  if (failedEndpointId !== null && type !== exhaustedType)
    throw new ConfigError(`--endpoint needs --type ${exhaustedType}`)
  if (second === undefined && type !== undefined)
    return { type, organizationId: first, documentId: document ?? null, failedEndpointId }
  const event =
    second === undefined
      ? await eventOfAnyActivity(server, first)
      : await eventOfActivity(server, first, second)
  const documentId = document ?? event.documentId
  return { ...event, ...(type !== undefined && { type }), documentId, failedEndpointId }
}

/**
 * Formats an explanation.
 * @param isActual true for the event of an existing activity, false for a type that an event could have
 */
function asText(
  { type, organizationId, documentId }: RoutedEvent,
  explanations: readonly EndpointExplanation[],
  isActual: boolean,
): string {
  const place = documentId === null ? organizationId : `${organizationId}/${documentId}`
  const [sent, unsent] = isActual
    ? ['matches the configuration now', 'does not match']
    : ['would be sent', 'would not be sent']
  const outcomeWidth = Math.max(sent.length, unsent.length)
  const width = Math.max(...explanations.map(({ endpointId }) => endpointId.length))
  const lines = explanations.map(({ endpointId, isSent, reason, lastFailure }) => {
    const failure = lastFailure && `its last attempt failed at ${lastFailure.time}: ${lastFailure.error}`
    const why = [reason, failure].filter((part) => part != null).join('; ')
    return `  ${(isSent ? sent : unsent).padEnd(outcomeWidth)}  ${endpointId.padEnd(width)}  ${why}`.trimEnd()
  })
  return [`${type} of ${place}`, ...lines].map(escapeControls).join('\n')
}

function messageAsText(message: FoundMessage): string {
  const { messageId, eventType, endpointId, status, attempts, nextAttemptAt, reason } = message
  return [
    `${eventType} as ${messageId}`,
    `  ${status} at the endpoint ${endpointId}`,
    ...attempts.map(({ time, error }) => `  ${time}  ${error === null ? 'succeeded' : `failed: ${error}`}`),
    ...(reason === null ? [] : [`  it failed: ${reason}`]),
    ...(nextAttemptAt === null ? [] : [`  the next attempt is at ${nextAttemptAt}`]),
  ]
    .map(escapeControls)
    .join('\n')
}
