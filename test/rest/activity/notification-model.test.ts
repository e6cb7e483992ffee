import * as fc from 'fast-check'
import { expect } from 'vitest'
import { NotificationConfigService } from '../../../src/capabilities/notifications/notification-config-service.ts'
import type {
  NotificationLevel,
  NotificationRecord,
} from '../../../src/capabilities/notifications/notification-records.ts'
import { NotificationService } from '../../../src/capabilities/notifications/notification-service.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { type OpenDirectory, openDirectory, tenant } from '../../support/data/directory.ts'
import { itLong, times } from '../../support/time/full-run.ts'

const scope = { ...tenant, organizationId: 'acme' }
const users = ['ann', 'bob', 'cy']
const documents = ['x', 'y']
const ids = ['1', '2', '3']

interface Known {
  readonly documentId: string
  /** Number of the addition. */
  readonly at: number
  direct: Set<string>
  readonly everybody: ReadonlySet<string> | null
  readonly goneFor: Set<string>
  readonly readBy: Set<string>
}

/** A simple model of the expected state. */
class Model {
  readonly users = new Set<string>()
  readonly documents = new Set(documents)
  readonly notifications = new Map<string, Known>()
  readonly configs = new Map<string, NotificationLevel>()

  reaches(known: Known, user: string): boolean {
    return known.direct.has(user) || known.everybody?.has(user) === true
  }

  sees(known: Known, user: string): boolean {
    const level = this.configs.get(`${user} ${known.documentId}`) ?? this.configs.get(`${user} *`) ?? 'ALL'
    const isWanted = level === 'ALL' || (level === 'MINE' && known.direct.has(user))
    return this.reaches(known, user) && !known.goneFor.has(user) && isWanted
  }

  /** Ids, the newest first. */
  list(fits: (known: Known) => boolean): string[] {
    const found = [...this.notifications].filter(([, known]) => fits(known))
    return found.sort(([, a], [, b]) => b.at - a.at).map(([id]) => id)
  }

  /** Removes a notification when its last named user has removed it. */
  drop(id: string, known: Known, user: string): void {
    known.direct.delete(user)
    if (known.everybody === null) known.readBy.delete(user)
    if (known.direct.size === 0 && known.everybody === null) this.notifications.delete(id)
  }

  leave(user: string): void {
    this.users.delete(user)
    for (const [id, known] of this.notifications) {
      known.readBy.delete(user)
      known.goneFor.delete(user)
      if (known.direct.has(user)) this.drop(id, known, user)
      if (known.everybody !== null)
        this.notifications.set(id, {
          ...known,
          everybody: new Set([...known.everybody].filter((each) => each !== user)),
        })
    }
    for (const key of this.configs.keys()) if (key.startsWith(`${user} `)) this.configs.delete(key)
  }

  removeDocument(document: string): void {
    this.documents.delete(document)
    for (const [id, known] of this.notifications)
      if (known.documentId === document) this.notifications.delete(id)
    for (const key of this.configs.keys()) if (key.endsWith(` ${document}`)) this.configs.delete(key)
  }
}

const user = fc.constantFrom(...users)
const document = fc.constantFrom(...documents)
const id = fc.constantFrom(...ids)
const level = fc.constantFrom('ALL', 'MINE', 'NONE')
const named = fc.subarray(users)
const kind = <const K extends string>(name: K) => fc.constant(name)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('add'), id, document, named, notifyAll: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('read'), id, user }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('config'), user, place: fc.option(document), level }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('delete'), id }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('deleteFor'), user, document: fc.option(document) }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('join'), user }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('leave'), user }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('toggle'), document }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface World {
  readonly directory: OpenDirectory
  readonly notifications: NotificationService
  readonly configs: NotificationConfigService
  readonly model: Model
}

const described = (documentId: string, named: readonly string[], notifyAll: boolean) => ({
  documentId,
  actionUser: { userId: 'eve' },
  displayHeadlineMessageTemplate: 'for {recipientUser}',
  displayHeadlineMessageTemplateData: {},
  displayBodyMessage: '',
  notifyUsers: named.map((userId) => ({ userId })),
  notifyAll,
  notificationSourceData: {},
})

async function addOne(world: World, at: number, step: Extract<Step, { kind: 'add' }>): Promise<void> {
  const { notifications, model } = world
  const adding = notifications.add(scope, {
    id: step.id,
    ...described(step.document, step.named, step.notifyAll),
  })
  if (!model.documents.has(step.document))
    return expect(adding).rejects.toMatchObject({ status: 'NOT_FOUND' })
  const isFree = !model.notifications.has(step.id)
  expect((await adding).outcome).toBe(isFree ? 'added' : 'used already')
  if (!isFree) return
  model.notifications.set(step.id, {
    documentId: step.document,
    at,
    direct: new Set(step.named),
    everybody: step.notifyAll ? new Set(model.users) : null,
    goneFor: new Set(),
    readBy: new Set(),
  })
}

async function readOne(
  { notifications, model }: World,
  step: Extract<Step, { kind: 'read' }>,
): Promise<void> {
  const known = model.notifications.get(step.id)
  const results = await notifications.update(scope, [{ id: step.id, readByUserIds: [step.user] }])
  const isDone = known !== undefined && model.reaches(known, step.user)
  expect(results[step.id]?.success).toBe(isDone)
  if (isDone) known.readBy.add(step.user)
}

async function configure({ configs, model }: World, step: Extract<Step, { kind: 'config' }>): Promise<void> {
  const setting = configs.set(scope, [step.user], [step.place], { inbox: step.level })
  if (step.place !== null && !model.documents.has(step.place))
    return expect(setting).rejects.toMatchObject({ status: 'NOT_FOUND' })
  await setting
  model.configs.set(`${step.user} ${step.place ?? '*'}`, step.level)
}

async function deleteFor(world: World, step: Extract<Step, { kind: 'deleteFor' }>): Promise<void> {
  const { notifications, model } = world
  const filter = { userId: step.user, documentId: step.document ?? undefined }
  const deleting = notifications.delete(scope, filter, undefined)
  if (step.document !== null && !model.documents.has(step.document))
    return expect(deleting).rejects.toMatchObject({ status: 'NOT_FOUND' })
  const { results } = await deleting
  const fits = (known: Known) =>
    model.reaches(known, step.user) &&
    !known.goneFor.has(step.user) &&
    (step.document ?? known.documentId) === known.documentId
  const expected = model.list(fits)
  expect(Object.keys(results).toSorted()).toEqual(expected.toSorted())
  for (const each of expected) {
    const known = model.notifications.get(each) as Known
    if (known.everybody !== null) known.goneFor.add(step.user)
    model.drop(each, known, step.user)
  }
}

async function carryOut(world: World, step: Step, at: number): Promise<void> {
  const { directory, notifications, model } = world
  const organization = { type: 'organization', id: 'acme' } as const
  if (step.kind === 'add') return addOne(world, at, step)
  if (step.kind === 'read') return readOne(world, step)
  if (step.kind === 'config') return configure(world, step)
  if (step.kind === 'deleteFor') return deleteFor(world, step)
  if (step.kind === 'delete') {
    const { results } = await notifications.delete(scope, {}, [step.id])
    expect(results[step.id]?.success).toBe(model.notifications.delete(step.id))
  } else if (step.kind === 'join') {
    await directory.users.add(scope, organization, [{ userId: step.user }])
    model.users.add(step.user)
  } else if (step.kind === 'leave') {
    // A user who is not in the organization cannot leave it.
    const results = await directory.users.remove(scope, organization, [step.user])
    if (results[step.user]?.success === true) model.leave(step.user)
  } else if (model.documents.has(step.document)) {
    await directory.documents.delete(scope, [step.document])
    model.removeDocument(step.document)
  } else {
    await directory.documents.add(scope, [{ documentId: step.document }], { createFolder: false })
    model.documents.add(step.document)
  }
}

/** Checks that the inbox of every user, page by page, and the list of all notifications equal the model. */
async function compare({ notifications, model }: World): Promise<void> {
  const everything = { order: 'desc', limit: 100, after: undefined } as const
  for (const documentId of [undefined, ...model.documents]) {
    const isAt = (known: Known) => (documentId ?? known.documentId) === known.documentId
    const all = await notifications.list(scope, { ...everything, documentId })
    expect(all.items.map(({ record }) => record.id)).toEqual(model.list(isAt))
    for (const { record, readByUserIds } of all.items)
      expect(readByUserIds).toEqual([...(model.notifications.get(record.id) as Known).readBy].toSorted())
    for (const userId of users) {
      const seen: NotificationRecord[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const page = await notifications.list(scope, { ...everything, documentId, userId, limit: 2, after })
        seen.push(...page.items.map(({ record }) => record))
        expect(page.items.every(({ headline }) => headline === `for ${userId}`)).toBe(true)
        after = page.next
      }
      expect(seen.map((record) => record.id)).toEqual(
        model.list((known) => isAt(known) && model.sees(known, userId)),
      )
    }
  }
}

itLong(
  '[NOTE-16] after any actions, shows every user the notifications of a simple model, and stores nothing after all deletions',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
        const directory = await openDirectory()
        directory.removals.start()
        const model = new Model()
        const world = {
          directory,
          notifications: new NotificationService(directory.store, directory.clock),
          configs: new NotificationConfigService(directory.store),
          model,
        }
        await directory.organizations.ensure(scope)
        await directory.documents.add(
          scope,
          documents.map((documentId) => ({ documentId })),
          { createFolder: false },
        )
        for (const [at, each] of steps.entries()) {
          directory.clock.advance(1)
          await carryOut(world, each, at)
          await compare(world)
        }
        await directory.documents.delete(scope, [...model.documents])
        const left = await directory.engine.kv.scan(organizationPart(scope), { limit: 1_000 })
        const kinds = left.map(({ key }) => key).filter(([kind = '']) => kind.startsWith('notification'))
        // The configs of users for the organization stay.
        expect(
          kinds.filter(([kind, , place]) => kind !== 'notificationConfigs' || place !== 'organization'),
        ).toEqual([])
        await directory.removals.stop()
        await directory.close()
      }),
      { numRuns: times(50, 150) },
    )
  },
  60_000,
)
