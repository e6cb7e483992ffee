import type { Key } from '../engine/engine.ts'
import type { ActivityTraits, FeatureType } from './activity.ts'
import { activityKeys } from './activity-keys.ts'

/** Which activities are meant: those that fit all that is given. */
export interface ActivityQuery {
  readonly documentId?: string
  readonly userId?: string
  readonly targetEntityId?: string
  readonly locationId?: string
  /** Any of these. */
  readonly featureTypes?: readonly FeatureType[]
  /** Any of these. */
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

/** Says of traits whether an activity that has them fits. */
export function matcher(query: ActivityQuery): (traits: ActivityTraits) => boolean {
  const wanted = wantedOf(query).map(([trait, values]) => [trait, new Set<string | null>(values)] as const)
  return (traits) => wanted.every(([trait, values]) => values.has(traits[trait]))
}

/**
 * The indexes each of which has all that fits, as the prefixes of their parts, which have nothing in common; none where
 * everything fits.
 */
export const indexesFor = (query: ActivityQuery): readonly (readonly Key[])[] =>
  wantedOf(query).map(([trait, values]) => values.map((value) => activityKeys.by(trait, value)))
