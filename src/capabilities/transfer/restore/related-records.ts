import { branchKeys } from '../../../core/directory/branches/branch-records.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
  type Resource,
  type SubjectType,
} from '../../../core/directory/organizations/organization-keys.ts'
import { editorSchemasType } from '../../../core/directory/schemas/schema-service.ts'
import { type GrantRecord, grantRecordType } from '../../../core/directory/store/records.ts'
import type { Engine, Key, KvEntry } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { entryPages } from '../../../core/store/pages.ts'
import { readRecord } from '../../../core/store/stored-record.ts'
import { commentKeys } from '../../comments/comment-keys.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  type CommentRecord,
  commentRecordType,
} from '../../comments/comment-records.ts'
import { judgmentKeys, memoryPart } from '../../decisions/judgment-keys.ts'

const pageSize = 200

/** An annotation with all its comments, the oldest first. */
export interface StoredThread {
  readonly annotation: AnnotationRecord
  readonly comments: readonly CommentRecord[]
}

/** A permission of a user or a group on a resource. */
export interface StoredGrant extends GrantRecord {
  readonly subjectType: SubjectType
  readonly subjectId: string
}

/** A branch of an editor. */
interface StoredBranch {
  readonly editorId: string
  readonly name: string
}

/** Reads the records of a backup that belong to its documents: comments, permissions, and numbers of others. */
export class RelatedRecords {
  readonly #engine: Engine
  readonly #scope: OrganizationScope

  constructor(engine: Engine, scope: OrganizationScope) {
    this.#engine = engine
    this.#scope = scope
  }

  /** Yields the threads of a document, the oldest first. */
  async *threads(documentId: string): AsyncGenerator<StoredThread> {
    for await (const { key } of this.#entries(commentKeys.list({ kind: 'document', documentId }))) {
      const annotationKey = commentKeys.annotation(lastSegment(key))
      const [value = null] = await this.#engine.kv.get(organizationPart(this.#scope), [annotationKey])
      if (value === null) continue
      const annotation = readRecord(annotationRecordType, { key: annotationKey, value })
      const comments: CommentRecord[] = []
      for await (const entry of this.#entries(commentKeys.comments(annotation.annotationId)))
        comments.push(readRecord(commentRecordType, entry))
      yield { annotation, comments }
    }
  }

  /** Returns the permissions on a resource. */
  async grants(resource: Resource): Promise<readonly StoredGrant[]> {
    const grants: StoredGrant[] = []
    for await (const entry of this.#entries(keys.grantsOn(resource))) {
      const subjectType = entry.key.at(-2) as SubjectType
      grants.push({
        ...readRecord(grantRecordType, entry),
        subjectType,
        subjectId: lastSegment(entry.key),
      })
    }
    return grants
  }

  async branches(documentId: string): Promise<readonly StoredBranch[]> {
    const found: StoredBranch[] = []
    for await (const { key } of this.#entries(branchKeys.ofDocument(documentId)))
      found.push({ editorId: key.at(-2) ?? '', name: lastSegment(key) })
    return found
  }

  /** Returns the number of schemas that are attached to editors of a document. */
  async countSchemas(documentId: string): Promise<number> {
    let count = 0
    for await (const entry of this.#entries(keys.editorSchemas(documentId)))
      count += readRecord(editorSchemasType, entry).editors.length
    return count
  }

  /** Returns the number of decisions about a document. */
  async countDecisions(documentId: string): Promise<number> {
    const { organizationId } = this.#scope
    const prefix = judgmentKeys.within({ organizationId, documentId })
    let count = 0
    for await (const _ of this.#entries(prefix, memoryPart(this.#scope))) count += 1
    return count
  }

  async *#entries(prefix: Key, part: Key = organizationPart(this.#scope)): AsyncGenerator<KvEntry> {
    const { kv } = this.#engine
    for await (const page of entryPages((range) => kv.scan(part, range), { prefix, limit: pageSize }))
      yield* page
  }
}
