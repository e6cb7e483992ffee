import { StorageError } from '../capabilities/backups/storage/storage-error.ts'
import {
  callOnline,
  listingHint,
  listOnline,
  type OnlineServer,
} from '../capabilities/transfer/documents/rest-client.ts'
import { fixedTargetIds, type RoutedEvent, storeTargetIds } from '../capabilities/webhooks/event-routing.ts'
import {
  type ExplainedConfig,
  type ExplainedEndpoint,
  type Explanation,
  storeName,
} from '../capabilities/webhooks/explain.ts'
import * as s from '../core/base/schema.ts'
import { type EventType, eventTypesByActivity } from '../core/events/outbound-event.ts'

/** Maximum number of organizations in which an activity is searched. Each organization needs one call. */
const organizationsMax = 200
/** Number of endpoints in one page. An API key cannot have more endpoints. */
const endpointsMax = 250
const pageSize = 250
/** Maximum number of pages of deliveries of one endpoint in which a message is searched. */
const pagesMax = 40
/** Number of the newest deliveries of an endpoint among which the last attempt is searched. */
const recentMax = 10

const activitiesSchema = s.array(
  s.object(
    { actionType: s.string, metadata: s.object({}, { documentId: s.string }) },
    { targetEntityId: s.string },
  ),
)

interface Attempt {
  readonly time: string
  readonly error: string | null
}

interface ShownDelivery {
  readonly messageId: string
  readonly eventType: string
  readonly status: string
  readonly createdAt: string
  readonly nextAttemptAt: string | null
  readonly reason: string | null
  readonly attempts: readonly Attempt[]
}

const deliveryPageSchema: s.SchemaOf<DeliveryPage> = s.object({
  deliveries: s.array(
    s.object({
      messageId: s.string,
      eventType: s.string,
      status: s.string,
      createdAt: s.string,
      nextAttemptAt: s.orNull(s.string),
      reason: s.orNull(s.string),
      attempts: s.array(s.object({ time: s.string, error: s.orNull(s.string) })),
    }),
  ),
  iterator: s.orNull(s.string),
})

/** A message, and the webhook endpoint that gets it. */
export interface FoundMessage extends ShownDelivery {
  readonly endpointId: string
}

/** An explanation for one endpoint. It contains the last attempt of the endpoint if that attempt failed. */
export interface EndpointExplanation extends Explanation {
  readonly lastFailure?: Attempt
}

const eventTypeOf = (actionType: string): string =>
  hasOwnEventType(actionType) ? eventTypesByActivity[actionType] : actionType

const hasOwnEventType = (actionType: string): actionType is keyof typeof eventTypesByActivity =>
  Object.hasOwn(eventTypesByActivity, actionType)

/** Type of the event that an endpoint of a document gets although the document does not exist any more. */
const deletionType = 'document.delete' satisfies EventType

/**
 * Returns the event that belongs to an activity of an organization.
 * @throws StorageError
 */
export async function eventOfActivity(
  server: OnlineServer,
  organizationId: string,
  activityId: string,
): Promise<RoutedEvent> {
  const event = await findActivity(server, organizationId, activityId)
  if (event !== null) return event
  throw new StorageError(`the organization has no activity ${JSON.stringify(activityId)}`, {
    hint: 'list them with /v2/activities/get',
  })
}

async function findActivity(
  server: OnlineServer,
  organizationId: string,
  activityId: string,
): Promise<RoutedEvent | null> {
  const query = { organizationId, activityIds: [activityId] }
  const [activity] = (await callOnline(server, '/v2/activities/get', query, activitiesSchema)).data
  if (activity === undefined) return null
  const { actionType, metadata, targetEntityId } = activity
  const type = eventTypeOf(actionType)
  // The activity of a deletion stays with the organization, so only its target names the document.
  const documentId = metadata.documentId ?? (type === deletionType ? targetEntityId : null) ?? null
  return { type, organizationId, documentId, failedEndpointId: null }
}

const organizationsSchema = s.array(s.object({ id: s.string }))
const foundSchema = s.array(s.unknown)

const nameOrganization = 'name the organization: weft events why <organization> <id>, or --type'

/**
 * Searches all organizations of the API key for an activity, and returns its event.
 * @throws StorageError
 */
export async function eventOfAnyActivity(server: OnlineServer, activityId: string): Promise<RoutedEvent> {
  const found: RoutedEvent[] = []
  let looked = 0
  const organizations = listOnline(server, '/v2/organizations/get', {}, organizationsSchema)
  for await (const { id } of organizations) {
    looked += 1
    if (looked > organizationsMax) break
    const event = await findActivity(server, id, activityId)
    if (event !== null) found.push(event)
  }
  const [event, ...others] = found
  const activity = `an activity ${JSON.stringify(activityId)}`
  if (event === undefined)
    throw new StorageError(
      looked > organizationsMax
        ? `none of the first ${organizationsMax} organizations has ${activity}`
        : `no organization has ${activity}`,
      { hint: nameOrganization },
    )
  if (others.length === 0) return event
  const names = found.map(({ organizationId }) => organizationId).join(', ')
  throw new StorageError(`several organizations have ${activity}: ${names}`, { hint: nameOrganization })
}

/**
 * Checks that the organization exists, and the document, unless the event is its deletion.
 * @throws StorageError
 */
export async function requirePlace(
  server: OnlineServer,
  { type, organizationId, documentId }: RoutedEvent,
): Promise<void> {
  const isThere = async (path: string, query: object): Promise<boolean> =>
    (await callOnline(server, path, query, foundSchema)).data.length > 0
  if (!(await isThere('/v2/organizations/get', { organizationIds: [organizationId] })))
    throw notFound('organization', organizationId)
  if (documentId === null || type === deletionType) return
  const query = { organizationId, documentIds: [documentId] }
  if (!(await isThere('/v2/organizations/documents/get', query))) throw notFound('document', documentId)
}

/**
 * Checks that the id belongs to a webhook target of the API key. If the advanced service is off, the server does
 * not list its endpoints, and every id passes.
 * @throws StorageError
 */
export function requireEndpoint({ advanced, endpoints }: ExplainedConfig, endpointId: string | null): void {
  if (!advanced.isEnabled) return
  const ids = [...fixedTargetIds, ...endpoints.map(({ id }) => id)]
  if (endpointId !== null && !ids.includes(endpointId)) throw notFound('endpoint', endpointId, endpointHint)
}

const endpointHint = 'list them with /v2/workspace/advancedwebhook/endpoints/get'

const notFound = (what: string, id: string, hint = listingHint): StorageError =>
  new StorageError(`NOT_FOUND: the ${what} ${JSON.stringify(id)} does not exist`, { hint })

/**
 * Returns the webhook configuration of the API key.
 * @throws StorageError
 */
export async function webhookConfigOf(server: OnlineServer): Promise<ExplainedConfig> {
  const read = async (path: string, data: object = {}): Promise<unknown> =>
    (await callOnline(server, `/v2/workspace/${path}`, data, s.unknown)).data
  const basic = (await read('webhookconfig/get')) as ExplainedConfig['basic']
  const advanced = (await read('advancedwebhookconfig/get')) as ExplainedConfig['advanced']
  const store = await storeCallbackOf(server)
  if (!advanced.isEnabled) return { basic, advanced, endpoints: [], store }
  const listed = await read('advancedwebhook/endpoints/get', { limit: endpointsMax })
  const { endpoints } = listed as { endpoints: readonly ExplainedEndpoint[] }
  return { basic, advanced, endpoints, store }
}

const callbacksSchema = s.object({ store: s.orNull(s.object({ minSeconds: s.number })) })

async function storeCallbackOf(server: OnlineServer): Promise<ExplainedConfig['store']> {
  try {
    return (await callOnline(server, '/v2/workspace/callbacks/get', {}, callbacksSchema)).data.store
  } catch (error) {
    if (error instanceof StorageError && error.message.includes('NOT_FOUND')) return null
    throw error
  }
}

interface DeliveryPage {
  readonly deliveries: readonly ShownDelivery[]
  readonly iterator: string | null
}

const deliveriesOf = async (server: OnlineServer, query: object): Promise<DeliveryPage> =>
  (await callOnline(server, '/v2/workspace/advancedwebhook/deliveries/get', query, deliveryPageSchema)).data

/**
 * Searches the webhook endpoints of the API key for a message.
 * @throws StorageError
 */
export async function findMessage(server: OnlineServer, messageId: string): Promise<FoundMessage> {
  const { advanced, endpoints } = await webhookConfigOf(server)
  for (const endpointId of [...endpoints.map(({ id }) => id), ...fixedTargetIds]) {
    const found = await findMessageOf(server, endpointId, messageId)
    if (found !== null) return { endpointId, ...found }
  }
  if (!advanced.isEnabled)
    throw new StorageError(
      `no other target has the message ${JSON.stringify(messageId)}, and endpoints cannot be searched: ` +
        'the advanced webhook service is off',
      { hint: 'set isEnabled with /v2/workspace/advancedwebhookconfig/update' },
    )
  throw new StorageError(`no webhook endpoint has the message ${JSON.stringify(messageId)}`, {
    hint: 'list them with /v2/workspace/advancedwebhook/deliveries/get',
  })
}

/** Searches one endpoint for a message. The pages are ordered by id, the newest first. */
async function findMessageOf(
  server: OnlineServer,
  endpointId: string,
  messageId: string,
): Promise<ShownDelivery | null> {
  let iterator: string | null = null
  for (let page = 0; page < pagesMax; page++) {
    const query = { endpointId, limit: pageSize, ...(iterator !== null && { iterator }) }
    const { deliveries, iterator: next }: DeliveryPage = await deliveriesOf(server, query)
    const found = deliveries.find((each) => each.messageId === messageId)
    if (found !== undefined) return found
    const oldest = deliveries.at(-1)
    if (next === null || oldest === undefined || oldest.messageId < messageId) return null
    iterator = next
  }
  return null
}

/**
 * Adds the last attempt of each endpoint that gets the event, if that attempt failed.
 * @throws StorageError
 */
export async function withLastFailures(
  server: OnlineServer,
  explanations: readonly Explanation[],
): Promise<readonly EndpointExplanation[]> {
  const shown: EndpointExplanation[] = []
  for (const each of explanations) {
    const lastFailure = each.isSent ? await lastFailureOf(server, each.endpointId) : null
    shown.push(lastFailure === null ? each : { ...each, lastFailure })
  }
  return shown
}

async function lastFailureOf(server: OnlineServer, endpointId: string): Promise<Attempt | null> {
  const ids = endpointId === storeName ? storeTargetIds : [endpointId]
  const attempts: Attempt[] = []
  for (const id of ids) {
    const { deliveries } = await deliveriesOf(server, { endpointId: id, limit: recentMax })
    attempts.push(...deliveries.flatMap((each) => each.attempts.slice(-1)))
  }
  const last = attempts.toSorted((a, b) => a.time.localeCompare(b.time)).at(-1)
  return last === undefined || last.error === null ? null : last
}
