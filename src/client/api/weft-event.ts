import type {
  EventMetadata,
  NamedUser,
  ProtectedMember,
  TestEventData,
  WeftEventData,
} from './operation-types.ts'

/** Names of the events. */
export type WeftEventName = keyof WeftEventData

/** The user who caused an event, and the place of the event. */
export interface EventOrigin {
  /** The user; the id of the API key if the call named no user. */
  readonly actionUser: NamedUser
  readonly metadata: EventMetadata
}

/** An event with its data. */
export interface EventOf<Name extends string, Data> {
  readonly event: Name
  readonly actionType: Name
  /** Product area of the event, such as `comment`. */
  readonly source: string
  readonly data: Data & EventOrigin
  /** Unique id of the event. An event that is repeated has the same id. */
  readonly webhookId: string
  /** Time of the event in epoch milliseconds. */
  readonly timestamp: number
}

/** An event, with all its data. `event` decides which data it has. */
export type WeftEvent<Name extends WeftEventName = WeftEventName> = {
  readonly [Each in Name]: EventOf<Each, WeftEventData[Each]>
}[Name]

/** Data from which data protection may have removed members. */
export type ProtectedData<Data> = Data extends readonly (infer Item)[]
  ? readonly ProtectedData<Item>[]
  : Data extends object
    ? {
        readonly [Name in keyof Data as Name extends ProtectedMember ? never : Name]: ProtectedData<
          Data[Name]
        >
      } & {
        readonly [Name in keyof Data as Name extends ProtectedMember ? Name : never]?: Data[Name]
      }
    : Data

/**
 * An event in the body of a webhook. `event` decides which data it has. A test event can have each name, and has
 * `test` in its data: check `'test' in event.data` first.
 */
export type WebhookEvent<Name extends WeftEventName = WeftEventName> = {
  readonly [Each in Name]: EventOf<Each, ProtectedData<WeftEventData[Each]>> | EventOf<Each, TestEventData>
}[Name]
