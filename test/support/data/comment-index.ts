import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import type { OpenDirectory } from './directory.ts'
import { scopeOf, tenant } from './directory.ts'

interface Annotation {
  readonly annotationId: string
  readonly documentId: string
  readonly order: string
  readonly location: { readonly id: string } | null
  readonly createdBy: Named
  readonly assignedTo: Named | null
}

interface Comment {
  readonly commentId: string
  readonly order: string
  readonly from: Named
  readonly reactions: readonly { readonly user: Named }[]
}

interface Activity {
  readonly id: string
  readonly timestamp: number
  readonly place: number
  readonly documentId: string | null
  readonly actionUser: Named
  readonly targetEntityId?: string
  readonly location?: { readonly id: string }
  readonly featureType: string
  readonly actionType: string
}

interface Named {
  readonly userId: string
}

/** Stored records by their keys as JSON. */
type Stored = ReadonlyMap<string, { readonly key: readonly string[]; readonly record: unknown }>

/** Returns the stored records of comments and activities of an organization. */
async function storedIn({ engine }: OpenDirectory, organizationId: string): Promise<Stored> {
  const part = organizationPart(scopeOf(tenant, organizationId))
  const entries = await engine.kv.scan(part, { limit: 1_000_000 })
  const kept = entries.filter(({ key: [kind = ''] }) => /^(annotation|activit)/.test(kind))
  return new Map(
    kept.map(({ key, value }) => [
      JSON.stringify(key),
      { key, record: JSON.parse(Buffer.from(value).toString()) },
    ]),
  )
}

/**
 * Returns the index entries that are missing, and the index entries without a record. Ignores the entries for
 * users whom activities mention.
 */
export async function straysIn(
  directory: OpenDirectory,
  organizationId: string,
): Promise<{ readonly missing: readonly string[]; readonly stray: readonly string[] }> {
  const stored = await storedIn(directory, organizationId)
  const counts = new Map<string, number>()
  const expected = new Set<string>()
  const expect = (...key: string[]) => expected.add(JSON.stringify(key))
  for (const { key, record } of stored.values()) {
    const [kind = '', first = ''] = key
    if (kind === 'annotations') expectAnnotation(record as Annotation, expect)
    if (kind === 'annotationComments') {
      expectComment(first, record as Comment, expect)
      counts.set(first, (counts.get(first) ?? 0) + 1)
    }
    if (kind === 'activities') expectActivity(record as Activity, expect)
  }
  const found = [...stored].filter(([, { key }]) => key[0] !== 'activitiesNaming')
  const wrong = found.filter(([, { key, record }]) => {
    const [kind, annotationId = ''] = key
    return (
      kind === 'annotationThreads' && (record as { count: number }).count !== (counts.get(annotationId) ?? 0)
    )
  })
  return {
    missing: [...expected].filter((name) => !stored.has(name)),
    stray: [...found.filter(([name]) => !expected.has(name)), ...wrong].map(([name]) => name),
  }
}

type Expect = (...key: string[]) => void

function expectAnnotation(annotation: Annotation, expect: Expect): void {
  const { annotationId, documentId, order, location, createdBy, assignedTo } = annotation
  expect('annotations', annotationId)
  expect('annotationThreads', annotationId)
  expect('annotationsIn', 'document', documentId, order, annotationId)
  if (location !== null) expect('annotationsIn', 'location', documentId, location.id, order, annotationId)
  for (const { userId } of [createdBy, assignedTo ?? createdBy])
    expect('annotationTies', userId, annotationId, '')
}

function expectComment(
  annotationId: string,
  { commentId, order, from, reactions }: Comment,
  expect: Expect,
): void {
  // The record of the annotation is also expected, because a comment must not exist without its annotation.
  expect('annotations', annotationId)
  expect('annotationComments', annotationId, order)
  expect('annotationCommentPlaces', annotationId, commentId)
  for (const { userId } of [from, ...reactions.map(({ user }) => user)])
    expect('annotationTies', userId, annotationId, order)
}

function expectActivity(activity: Activity, expect: Expect): void {
  const { id, timestamp, place, documentId, actionUser, targetEntityId, featureType, actionType } = activity
  const order = String(timestamp).padStart(15, '0') + String(place).padStart(5, '0')
  expect('activities', order, id)
  expect('activityPositions', id)
  const locationId = activity.location?.id
  const traits = {
    documentId,
    userId: actionUser.userId,
    targetEntityId,
    locationId,
    featureType,
    actionType,
  }
  for (const [trait, value] of Object.entries(traits))
    if (typeof value === 'string') expect('activitiesBy', trait, value, order, id)
}
