import type { Clock } from '../../base/clock.ts'
import { ApiError, invalid } from '../../base/errors.ts'
import * as s from '../../base/schema.ts'
import { shortened } from '../../base/text.ts'
import type { MigrationRule } from '../../content/migration/rules.ts'
import { checkSchema } from '../../content/schemas/check-schema.ts'
import { compileSchema } from '../../content/schemas/compiled-schema.ts'
import type { NamedSchema, RootSchema } from '../../content/schemas/content-schema.ts'
import { isPresetName } from '../../content/schemas/presets/presets.ts'
import type { SchemaSpec } from '../../content/schemas/schema-spec.ts'
import type { DocumentAddress, Tenant } from '../../model/address.ts'
import type { Key, Kv } from '../../store/engine.ts'
import { readRecord } from '../../store/stored-record.ts'
import { findBranch } from '../branches/branch-records.ts'
import { keys, type OrganizationScope } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { type ListPage, listEntries, type PageRange } from '../store/list-page.ts'
import { counterRecordType, deletableType } from '../store/records.ts'
import { type Transaction, TransactionRunner } from '../store/transaction.ts'

/** A schema that an API key has stored. */
const schemaRecordType = {
  name: 'schema',
  schema: s.object(
    {
      name: s.string,
      // `checkSchema` has checked the members before they were stored.
      schema: s.trusted<SchemaSpec>(s.object({})),
      /** Times in epoch milliseconds. */
      createdAt: s.number,
      lastUpdated: s.number,
    },
    // Absent in records of older versions of Weft: 1.
    { version: s.integer(1) },
  ),
}
export type SchemaRecord = Required<s.TypeOf<typeof schemaRecordType.schema>>

const addressedEditor = { organizationId: s.string, documentId: s.string, editorId: s.string }

/** The last migration of a schema, or the last dry run. */
export const migrationRecordType = {
  name: 'migration',
  schema: s.object({
    jobId: s.string,
    // The operation has checked the rules.
    rules: s.trusted<readonly MigrationRule[]>(s.array(s.object({}))),
    userId: s.string,
    /** The last document that is counted; null: none. */
    position: s.orNull(s.object({ organizationId: s.string, documentId: s.string })),
    report: s.object({
      status: s.choice(['running', 'done']),
      toVersion: s.integer(2),
      dryRun: s.boolean,
      /** Numbers of editors; `failed` includes branches. */
      processed: s.integer(0),
      changed: s.integer(0),
      failed: s.integer(0),
      failures: s.array(s.object({ ...addressedEditor, code: s.string, message: s.string })),
      examples: s.array(s.object({ ...addressedEditor, changes: s.integer(1) })),
      /** Times in epoch milliseconds. */
      startedAt: s.number,
      endedAt: s.orNull(s.number),
    }),
  }),
}
export type MigrationRecord = s.TypeOf<typeof migrationRecordType.schema>

/** The schema of an editor. */
export interface AttachedSchema {
  /** Name of a preset, or of a schema of the API key. */
  readonly schema: string
  /** The root that the schema describes. */
  readonly contentKey: string
  /** The version of the schema for which the content was written. */
  readonly version: number
  /**
   * The version before a migration that has begun and has not ended; that of the migration if only branches are left;
   * absent if there is none.
   */
  readonly migratingFrom?: number
}

/** The schemas of the editors of a document, by editor id. */
export const editorSchemasType = {
  name: 'schemas of editors',
  schema: s.object({
    editors: s.array(
      s.object(
        { editorId: s.string, schema: s.string, contentKey: s.string },
        { version: s.integer(1), migratingFrom: s.integer(1) },
      ),
    ),
  }),
}

/** Partition with the schemas of an API key. */
export const schemasPart = ({ workspaceId, apiKey }: Tenant): Key => ['schemas', workspaceId, apiKey]

/** Returns the fence that is raised when content of editors that exist may become protected from agents. */
export const schemasFence = (tenant: Tenant): Key => [...schemasPart(tenant), 'protected']

export const schemaKeys = {
  /** Counter: the number of schemas. */
  count: ['count'] satisfies Key,
  schemas: ['schemas'] satisfies Key,
  schema: (name: string): Key => ['schemas', name],
  migration: (name: string): Key => ['migrations', name],
}

/** Maximum number of schemas of one API key. */
export const schemasMax = 100
/** Maximum length of the JSON of a schema in characters. */
export const schemaLengthMax = 262_144
/** Maximum number of editors of one document that have a schema. */
const editorsWithSchemaMax = 1_000

/** Stores the schemas of API keys, and the names of the schemas that are attached to editors. */
export class SchemaService {
  readonly #organizations: OrganizationStore
  readonly #clock: Clock
  readonly #transactions: TransactionRunner

  constructor(kv: Kv, organizations: OrganizationStore, clock: Clock) {
    this.#organizations = organizations
    this.#clock = clock
    this.#transactions = new TransactionRunner(kv)
  }

  /**
   * Stores a schema. Replaces a schema with the same name. Resolves with true if there was none.
   * @param given the version; undefined: that of the replaced schema, or 1
   * @throws ApiError INVALID_ARGUMENT if the schema is invalid, if its version is older than that of the replaced
   * schema, or if its name is that of a preset; FAILED_PRECONDITION if the API key has the maximum number of schemas
   */
  async set(tenant: Tenant, name: string, data: unknown, given?: number): Promise<boolean> {
    if (isPresetName(name))
      throw invalid(
        'schema/name-taken',
        `${JSON.stringify(name)} is the name of a preset; choose another name`,
      )
    const schema = checkSchema(data)
    compileSchema(schema)
    if (JSON.stringify(schema).length > schemaLengthMax)
      throw invalid(
        'schema/invalid',
        `invalid schema: its JSON has more than ${schemaLengthMax} characters; remove nodes, marks or attributes`,
        {
          path: '',
        },
      )
    const now = this.#clock.now()
    return this.#transactions.run(schemasPart(tenant), async (transaction) => {
      const known = await transaction.get(schemaKeys.schema(name), schemaRecordType)
      if (known === null) await count(transaction, 1)
      const stored = known?.version ?? 1
      const version = given ?? stored
      if (version < stored)
        throw invalid(
          'schema/invalid',
          `the stored schema has the version ${stored}, which is newer; send this version or a later one`,
          { path: '' },
        )
      const times = { createdAt: known?.createdAt ?? now, lastUpdated: now }
      const record: SchemaRecord = { name, schema, version, ...times }
      transaction.put(schemaKeys.schema(name), record)
      const names = [known?.schema.protected, schema.protected].map((list) => JSON.stringify(list))
      if (known !== null && names[0] !== names[1]) transaction.raise([schemasFence(tenant)])
      return known === null
    })
  }

  /** @throws ApiError NOT_FOUND if the API key has no schema with this name */
  async get(tenant: Tenant, name: string): Promise<SchemaRecord> {
    const reader = this.#transactions.reader(schemasPart(tenant))
    const record = await reader.get(schemaKeys.schema(name), schemaRecordType)
    if (record === null) throw noSuchSchema(name)
    return { version: 1, ...record }
  }

  /** Returns the last migration of a schema; null if there was none. */
  migrationOf(tenant: Tenant, name: string): Promise<MigrationRecord | null> {
    return this.#transactions.reader(schemasPart(tenant)).get(schemaKeys.migration(name), migrationRecordType)
  }

  /** Returns a page of the schemas, in the order of their names. */
  async list(tenant: Tenant, range: PageRange): Promise<ListPage<SchemaRecord>> {
    const reader = this.#transactions.reader(schemasPart(tenant))
    const { items, next } = await listEntries(reader, schemaKeys.schemas, range)
    return { items: items.map((entry) => ({ version: 1, ...readRecord(schemaRecordType, entry) })), next }
  }

  /** @throws ApiError NOT_FOUND if the API key has no schema with this name */
  async delete(tenant: Tenant, name: string): Promise<void> {
    await this.#transactions.run(schemasPart(tenant), async (transaction) => {
      if ((await transaction.get(schemaKeys.schema(name))) === null) throw noSuchSchema(name)
      await count(transaction, -1)
      transaction.delete(schemaKeys.schema(name))
      transaction.delete(schemaKeys.migration(name))
    })
  }

  /**
   * Returns the schema with a name, which is a preset or a schema of the API key.
   * @throws ApiError NOT_FOUND if there is none
   */
  async named(tenant: Tenant, name: string): Promise<NamedSchema> {
    return isPresetName(name) ? { name, spec: null } : { name, spec: (await this.get(tenant, name)).schema }
  }

  /**
   * Returns the schema that is attached to an editor; null if there is none. A branch without a schema of its own
   * has the schema of its main editor.
   */
  async attachedTo(address: DocumentAddress): Promise<AttachedSchema | null> {
    const { documentId, editorId } = address
    const attached = await this.attachedIn(address, documentId)
    const own = attached.get(editorId)
    if (own !== undefined) return own
    const branch = await findBranch(this.#organizations.read(address), documentId, editorId)
    return branch === null ? null : (attached.get(branch.editorId) ?? null)
  }

  /**
   * Returns the schema of an editor and its root; null if the editor has no schema.
   * @throws ApiError NOT_FOUND if the schema does not exist any more
   */
  async of(address: DocumentAddress): Promise<RootSchema | null> {
    const attached = await this.attachedTo(address)
    if (attached === null) return null
    return { contentKey: attached.contentKey, schema: await this.named(address, attached.schema) }
  }

  /** Returns the schemas that are attached to the editors of a document, by editor id. */
  async attachedIn(
    scope: OrganizationScope,
    documentId: string,
  ): Promise<ReadonlyMap<string, AttachedSchema>> {
    const record = await this.#organizations
      .read(scope)
      .get(keys.editorSchemas(documentId), editorSchemasType)
    const editors = record?.editors ?? []
    return new Map(editors.map(({ editorId, ...attached }) => [editorId, { version: 1, ...attached }]))
  }

  /**
   * Attaches a schema to an editor, in place of another schema. Does nothing if the document does not exist any
   * more.
   * @param attached with a version, the editor gets this version, unless another schema is attached meanwhile; without
   * one, it gets the schema in its current version
   * @throws ApiError FAILED_PRECONDITION if too many editors of the document have a schema
   */
  async attach(
    address: DocumentAddress,
    attached: Omit<AttachedSchema, 'version'> & Partial<AttachedSchema>,
  ): Promise<void> {
    const { documentId, editorId } = address
    const { schema, version: given } = attached
    const reader = this.#transactions.reader(schemasPart(address))
    const record = await reader.get(schemaKeys.schema(schema), schemaRecordType)
    const version = given ?? record?.version ?? 1
    const key = keys.editorSchemas(documentId)
    await this.#organizations.carryOut(address, async (transaction) => {
      const document = await transaction.get(keys.document(documentId), deletableType)
      if (document === null || document.deleting === true) return
      const known = (await transaction.get(key, editorSchemasType))?.editors ?? []
      const others = known.filter((each) => each.editorId !== editorId)
      const former = known.find((each) => each.editorId === editorId)
      if (given !== undefined && former !== undefined && former.schema !== schema) return
      if (others.length >= editorsWithSchemaMax)
        throw new ApiError(
          'schema/too-many',
          `a document has at most ${editorsWithSchemaMax} editors with a schema; use another document for further editors`,
        )
      transaction.put(key, { editors: [...others, { editorId, ...attached, version }] })
      const isProtecting = former?.schema !== schema && record?.schema.protected !== undefined
      if (isProtecting) transaction.raise([schemasFence(address)])
    })
  }

  /** Removes the attachments of documents that are being deleted. */
  async forget(scope: OrganizationScope, documentIds: readonly string[]): Promise<void> {
    await this.#organizations.carryOut(scope, async (transaction) => {
      for (const documentId of documentIds) transaction.delete(keys.editorSchemas(documentId))
    })
  }
}

async function count(transaction: Transaction, by: 1 | -1): Promise<void> {
  const present = (await transaction.get(schemaKeys.count, counterRecordType))?.count ?? 0
  if (by > 0 && present >= schemasMax)
    throw new ApiError('schema/too-many', `an API key has at most ${schemasMax} schemas; delete some`)
  transaction.put(schemaKeys.count, { count: present + by })
}

const noSuchSchema = (name: string): ApiError =>
  new ApiError(
    'schema/not-found',
    `there is no schema ${JSON.stringify(shortened(name, 100))}; store it with /v2/crdt/schemas/set, or send the name of a preset`,
  )
