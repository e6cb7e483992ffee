import { misspelledName } from '../../core/base/text.ts'
import { type EventType, eventTypes } from '../../core/events/outbound-event.ts'
import type { Triggers, TriggerValue } from './webhook-records.ts'

type TriggerName = Exclude<EventType, 'webhook.test'> | 'enableDataProtection'

/** Names of groups. A group switches all triggers in its list. */
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
 * The triggers that are stored when the service is enabled for the first time: those of comments are on, except
 * suggestions, and those of huddles.
 */
const firstTriggers: Triggers = Object.fromEntries(
  triggerNames.map((name) => [name, /^(comment|huddle)/.test(name) && !name.includes('.suggestion_')]),
)

/**
 * Returns whether the triggers switch any event on or off. `enableDataProtection` does not switch an event,
 * and neither do names that Weft does not know.
 */
export const hasTriggers = (triggers: Triggers): boolean =>
  triggerNames.some((name) => name !== 'enableDataProtection' && Object.hasOwn(triggers, name))

/**
 * Returns the triggers to store after a change. The result contains the given members unchanged, and the
 * triggers that groups switch. If the value of a group is a boolean, it applies to all triggers of the group.
 * If the value is a map, it applies to the triggers in the map. A trigger that is also given under its own
 * name keeps the value given there.
 * @param isSeeding true if the service is enabled for the first time; then all triggers start with their
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

/** Returns the names that switch nothing, because no event and no group has the name. */
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
 * Returns the first name that is a misspelling of `enableDataProtection`. Such a name must be rejected. If it
 * were stored like an unknown name, data would remain unprotected.
 */
export const misspelledProtection = (triggers: Triggers): string | undefined =>
  Object.keys(triggers).find(
    (name) =>
      name !== 'enableDataProtection' &&
      misspelledName(name, ['enableDataProtection', 'dataProtection']) !== null,
  )

/**
 * Returns the value to store under a name. If both the stored and the new value are maps, merges them.
 * Otherwise, the new value replaces the stored one.
 */
function joined(stored: Triggers, name: string, value: TriggerValue): TriggerValue {
  const old = new Map(Object.entries(stored)).get(name)
  return typeof value === 'object' && typeof old === 'object' ? { ...old, ...value } : value
}

/**
 * Returns the triggers that a group switches, each with its new value. In a map, a name can be short
 * (`create`) or complete (`huddle.create`).
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
