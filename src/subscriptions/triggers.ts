import { type EventType, eventTypes } from '../events/outbound-event.ts'
import { misspelledName } from '../text.ts'
import type { Triggers, TriggerValue } from './webhook-records.ts'

export type TriggerName = Exclude<EventType, 'webhook.test'> | 'enableDataProtection'

/** All triggers, with the values that they get when the service is enabled for the first time. */
const firstTriggers: Readonly<Record<TriggerName, boolean>> = {
  'comment_annotation.add': true,
  'comment_annotation.assign': true,
  'comment_annotation.status_change': true,
  'comment_annotation.priority_change': true,
  'comment_annotation.suggestion_accept': false,
  'comment_annotation.suggestion_reject': false,
  'comment.add': true,
  'comment.update': true,
  'comment.delete': true,
  'comment.reaction_add': true,
  'comment.reaction_delete': true,
  'huddle.create': true,
  'huddle.join': true,
  'recorder.done': false,
  'crdt.update_data': false,
  'document.create': false,
  'document.delete': false,
  'presence.join': false,
  'presence.leave': false,
  'message.attempt.exhausted': false,
  enableDataProtection: false,
}

/** Names of groups, with the triggers that they stand for. */
export const triggerGroups = {
  crdt: ['crdt.update_data'],
  recorder: ['recorder.done'],
  huddle: ['huddle.create', 'huddle.join'],
} as const satisfies Readonly<Record<string, readonly TriggerName[]>>

export const triggerNames: readonly TriggerName[] = [
  ...eventTypes.filter((type) => type !== 'webhook.test'),
  'enableDataProtection',
]

/**
 * Returns whether the triggers switch any event on or off. `enableDataProtection` and names that Weft does
 * not know switch none.
 */
export const hasTriggers = (triggers: Triggers): boolean =>
  triggerNames.some((name) => name !== 'enableDataProtection' && Object.hasOwn(triggers, name))

/**
 * Returns the triggers to store after a change: the given members unchanged, and the triggers that they
 * switch. A boolean for a group switches all of its triggers. A map for a group switches the triggers that it
 * contains. A trigger that is given under its own name takes precedence over both.
 * @param isSeeding true if the service is enabled for the first time: then all triggers start with their
 * defaults
 */
export function mergeTriggers(stored: Triggers, change: Triggers, isSeeding: boolean): Triggers {
  const names = new Set<string>(triggerNames)
  const given = Object.entries(change)
  const switched = given
    .filter(([name]) => !names.has(name))
    .flatMap(([name, value]) => membersOf(name, value))
    .filter(([name]) => names.has(name))
  const written = given.map(([name, value]) => [name, joined(stored, name, value)] as const)
  return {
    ...(isSeeding ? firstTriggers : {}),
    ...stored,
    ...Object.fromEntries([...switched, ...written]),
  }
}

/** Returns the names that switch nothing, because no event or group has this name. */
export function unknownTriggers(triggers: Triggers): readonly string[] {
  const names = new Set<string>(triggerNames)
  return Object.entries(triggers).flatMap(([name, value]) => {
    if (names.has(name) && typeof value === 'boolean') return []
    const members = membersOf(name, value)
    if (typeof value === 'boolean') return members.length > 0 ? [] : [name]
    return members.map(([member]) => member).filter((member) => !names.has(member))
  })
}

/**
 * Returns the first name that misspells `enableDataProtection`. Such a name must be rejected: if it were
 * stored as an unknown name, data would remain unprotected.
 */
export const misspelledProtection = (triggers: Triggers): string | undefined =>
  Object.keys(triggers).find(
    (name) =>
      name !== 'enableDataProtection' &&
      misspelledName(name, ['enableDataProtection', 'dataProtection']) !== null,
  )

/**
 * Returns the value to store. A map is merged into the stored map; any other value replaces the stored one.
 */
function joined(stored: Triggers, name: string, value: TriggerValue): TriggerValue {
  const old = new Map(Object.entries(stored)).get(name)
  return typeof value === 'object' && typeof old === 'object' ? { ...old, ...value } : value
}

/**
 * Returns the triggers that a group switches. In a map, names can be short (`create`) or complete
 * (`huddle.create`).
 */
function membersOf(group: string, value: TriggerValue): readonly (readonly [string, boolean])[] {
  if (typeof value === 'boolean')
    return (new Map<string, readonly string[]>(Object.entries(triggerGroups)).get(group) ?? []).map(
      (name) => [name, value] as const,
    )
  return Object.entries(value).map(
    ([name, isOn]) => [name.startsWith(`${group}.`) ? name : `${group}.${name}`, isOn] as const,
  )
}
