import type { Key } from '../store/engine.ts'
import type { ActivityTraits, FeatureType } from './activity.ts'
import { activityKeys } from './activity-keys.ts'

/** Filter of activities. An activity must match every member that is present. */
export interface ActivityQuery {
  readonly documentId?: string
  readonly userId?: string
  readonly targetEntityId?: string
  readonly locationId?: string
  /** The activity must have one of these types. */
  readonly featureTypes?: readonly FeatureType[]
  /** The activity must have one of these types. */
  readonly actionTypes?: readonly string[]
}

type Wanted = readonly [trait: keyof ActivityTraits, values: readonly string[]]

function wantedOf(query: ActivityQuery): readonly Wanted[] {
  const one = (value: string | undefined) => (value === undefined ? undefined : [value])
  const all: readonly (readonly [keyof ActivityTraits, readonly string[] | undefined])[] = [
    ['documentId', one(query.documentId)],
    ['userId', one(query.userId)],
    ['targetEntityId', one(query.targetEntityId)],
    ['locationId', one(query.locationId)],
    ['featureType', query.featureTypes],
    ['actionType', query.actionTypes],
  ]
  return all.flatMap(([trait, values]) => (values === undefined ? [] : [[trait, [...new Set(values)]]]))
}

/** Returns a function that checks whether traits match the query. */
export function matcher(query: ActivityQuery): (traits: ActivityTraits) => boolean {
  const wanted = wantedOf(query).map(([trait, values]) => [trait, new Set<string | null>(values)] as const)
  return (traits) => wanted.every(([trait, values]) => values.has(traits[trait]))
}

/**
 * Returns the indexes that can answer a query. Each returned index alone contains all matching activities. An
 * index is a list of disjoint key prefixes, one for each of its parts. Returns an empty array if the query
 * has no conditions, so that every activity matches.
 */
export const indexesFor = (query: ActivityQuery): readonly (readonly Key[])[] =>
  wantedOf(query).map(([trait, values]) => values.map((value) => activityKeys.by(trait, value)))
