import { type EventType, eventTypes } from '../events/outbound.ts'
import type { Triggers } from './records.ts'

export type TriggerName = Exclude<EventType, 'webhook.test'> | 'enableDataProtection'

/** Every trigger and whether it is on when the service is enabled for the first time. */
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

/** Names that stand for several triggers. */
export const triggerGroups = {
  crdt: ['crdt.update_data'],
  recorder: ['recorder.done'],
  huddle: ['huddle.create', 'huddle.join'],
} as const satisfies Readonly<Record<string, readonly TriggerName[]>>

export const triggerNames: readonly TriggerName[] = [
  ...eventTypes.filter((type) => type !== 'webhook.test'),
  'enableDataProtection',
]

/** Triggers and groups of them, by name; other names are ignored. */
export type TriggerChange = Readonly<Record<string, boolean>>

export const hasTriggers = (triggers: Triggers): boolean => Object.keys(triggers).length > 0

/**
 * What is stored of triggers after a change. A group stands for its members, and what is said of a member goes before.
 * @param isSeeding whether `change` goes over the defaults, as when the service is enabled and has no triggers
 */
export function mergeTriggers(stored: Triggers, change: TriggerChange, isSeeding: boolean): Triggers {
  const given = new Map(Object.entries(change))
  const ofGroups = Object.entries(triggerGroups).flatMap(([group, members]) => {
    const value = given.get(group)
    return value === undefined ? [] : members.map((name) => [name, value] as const)
  })
  const named = triggerNames.flatMap((name) => {
    const value = given.get(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...(isSeeding ? firstTriggers : stored), ...Object.fromEntries([...ofGroups, ...named]) }
}
