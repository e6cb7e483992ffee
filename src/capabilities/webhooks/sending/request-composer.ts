import { keys as organizationKeys } from '../../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../../core/directory/organizations/organization-store.ts'
import { type UserRecord, userRecordType } from '../../../core/directory/store/records.ts'
import type { ActionUser } from '../../../core/events/activity.ts'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { OrganizationAddress } from '../../../core/model/address.ts'
import { encodeJson } from '../../../core/model/json-pieces.ts'
import type { OutgoingRequest } from '../../../core/outgoing/checked-sender.ts'
import { signatureHeaders, signingSecrets, tokenHeaders } from '../../../core/outgoing/sign.ts'
import type { Services } from '../../../rest/services.ts'
import { participantsOf } from '../../comments/find-comments.ts'
import { notificationKeys as keys } from '../../notifications/notification-keys.ts'
import { effectiveConfig, notificationConfigType } from '../../notifications/notification-records.ts'
import type { MessageRecord } from '../deliveries/delivery-records.ts'
import type { WebhookTarget } from '../target.ts'
import { editorOf, readEventContent } from './event-content.ts'
import {
  advancedPayload,
  basicPayload,
  type PayloadInput,
  processedPayload,
  type Recipient,
  storePayload,
} from './payload.ts'
import { encodePayload, encodingFor } from './payload-encryption.ts'

/** Maximum number of recipients. Further authors of a thread are left out. */
export const recipientsMax = 100

/**
 * Returns the authors of a thread, the first author first. Returns an empty list if the thread was deleted.
 */
type FindParticipants = (scope: OrganizationAddress, annotationId: string) => Promise<readonly ActionUser[]>

/** The members of a comment event's data from which recipients are found. */
interface CommentData {
  readonly annotation?: {
    readonly annotationId: string
    readonly assignedTo?: ActionUser | null
    readonly createdBy?: ActionUser
  }
  readonly comment?: { readonly from: ActionUser }
}

/**
 * Finds the users whom a comment event concerns: the assignee, the creator and the authors of the thread,
 * except for the acting user. Other events have no recipients. Names and e-mail addresses come from the user
 * records of the organization if they exist, otherwise from the event. Each recipient has the notification
 * config that applies to the document.
 */
export class CommentRecipients {
  readonly #store: OrganizationStore
  readonly #participants: FindParticipants

  constructor(
    store: OrganizationStore,
    participants: FindParticipants = (scope, annotationId) => participantsOf(store.read(scope), annotationId),
  ) {
    this.#store = store
    this.#participants = participants
  }

  async of(event: QueuedEvent): Promise<readonly Recipient[]> {
    const { annotation, comment } = event.data as CommentData
    if (annotation === undefined) return []
    const written = await this.#participants(event.scope, annotation.annotationId)
    const concerned = [annotation.assignedTo, annotation.createdBy, comment?.from, ...written]
    const users = new Map<string, ActionUser>()
    for (const user of concerned)
      if (user && user.userId !== event.actionUser.userId && !users.has(user.userId))
        users.set(user.userId, user)
    return this.#known(event, [...users.values()].slice(0, recipientsMax))
  }

  async #known(
    { scope, documentId }: QueuedEvent,
    users: readonly ActionUser[],
  ): Promise<readonly Recipient[]> {
    const reader = this.#store.read(scope)
    const configsOf = (place: string | null) =>
      reader.getAll(
        users.map(({ userId }) => keys.config(userId, place)),
        notificationConfigType,
      )
    const records = await reader.getAll(
      users.map(({ userId }) => organizationKeys.user(userId)),
      userRecordType,
    )
    const [ofOrganization, ofDocument] = [await configsOf(null), await configsOf(documentId)]
    return users.map((given, at) => ({
      ...named(given, records[at] ?? null),
      notificationConfig: effectiveConfig(ofOrganization[at] ?? null, ofDocument[at] ?? null),
    }))
  }
}

function named({ userId, ...given }: ActionUser, record: UserRecord | null): ActionUser {
  const name = record?.name || given.name
  const email = record?.email || given.email
  return { userId, ...(name && { name }), ...(email && { email }) }
}

/** A message and its event. */
export interface OutgoingMessage {
  readonly message: MessageRecord
  readonly event: QueuedEvent
}

/** The request for a message. */
interface ComposedMessage {
  readonly request: OutgoingRequest
  /** The version that the request of the callback `store` contains; otherwise null. */
  readonly version: string | null
}

type StoreTarget = Extract<WebhookTarget, { kind: 'store' }>
type AdvancedOrBasic = Exclude<WebhookTarget, StoreTarget>

/** Returns the id of a version of an editor, which is the same in all attempts. */
const storeIdOf = ({ id, progress }: MessageRecord, version: string | null): string =>
  progress === undefined || version === null
    ? id
    : `store_${progress.editor}_${Buffer.from(version).toString('base64url')}`

/** Builds the HTTP request for a message. */
export class RequestComposer {
  readonly #services: Services
  readonly #recipients: CommentRecipients

  constructor(services: Services) {
    this.#services = services
    this.#recipients = new CommentRecipients(services.store)
  }

  /**
   * Builds the request with the configuration that the target has at `now`. Returns null if the receiver of the
   * callback `store` needs no request: it has the version, or the editor is a branch or was deleted.
   * @param now epoch milliseconds
   * @throws Error if the payload must be encrypted and there is no key; ApiError if the content of the editor
   * cannot be read at this time
   */
  async compose(
    target: WebhookTarget,
    { message, event }: OutgoingMessage,
    now: number,
  ): Promise<ComposedMessage | null> {
    if (target.kind === 'store') return this.#composeStore(target, { message, event }, now)
    const sealing = encodingFor(target.config)
    if (sealing.kind === 'impossible') throw new Error('there is no public key to encrypt with')
    const detail = isProtected(target) ? 'protected' : 'whole'
    const payload = await this.#payload(target, { webhookId: message.id, event, detail })
    const body = encodePayload(jsonBytes(payload), sealing)
    const { url } = target.kind === 'basic' ? target : target.endpoint
    const headers =
      target.kind === 'basic'
        ? tokenHeaders(target.config.authToken)
        : signatureHeaders({ id: message.id, at: now, body }, signingSecrets(target.endpoint, now))
    return { request: { url, headers, body }, version: null }
  }

  /**
   * Builds the request of the callback `store`. Its id names the version, so that a receiver which ignores
   * repeated ids misses no version.
   */
  async #composeStore(
    { callback, callbacks }: StoreTarget,
    { message, event }: OutgoingMessage,
    now: number,
  ): Promise<ComposedMessage | null> {
    const editor = editorOf(event)
    if (editor === null || (await this.#services.documents.isBranch(editor))) return null
    const content = await readEventContent(this.#services, editor, callback)
    if (content.contentOmitted === 'deleted') return null
    if (content.version !== null && content.version === message.progress?.version) return null
    const body = jsonBytes(storePayload(event, content))
    const id = storeIdOf(message, content.version)
    const headers = signatureHeaders({ id, at: now, body }, signingSecrets(callbacks, now))
    return { request: { url: callback.url, headers, body }, version: content.version }
  }

  async #payload(target: AdvancedOrBasic, input: PayloadInput): Promise<object> {
    if (target.kind === 'endpoint') return advancedPayload(input)
    if (target.form === 'raw') return basicPayload(input)
    return processedPayload(input, await this.#recipients.of(input.event))
  }
}

const isProtected = (target: AdvancedOrBasic): boolean =>
  target.kind === 'endpoint'
    ? target.config.enableDataProtection
    : target.config.triggers.enableDataProtection === true

/** Encodes a payload as JSON in UTF-8. */
const jsonBytes = (payload: object): Buffer =>
  Buffer.concat(encodeJson(payload, Number.POSITIVE_INFINITY).parts)
