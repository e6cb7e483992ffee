/** The ids that the calls of an agent name. */
export interface AgentPlace {
  readonly organizationId: string
  readonly documentId: string
}

/** A call that succeeds for an editor on a document with the text "Hello" in the editor `main`. */
export interface AgentCallExample {
  /** The least role for which the call succeeds. */
  readonly role: 'viewer' | 'suggester' | 'editor'
  readonly data: (place: AgentPlace, from: string) => object
}

const editor = { editorId: 'main' }

/** A call of each operation that is open to agents, in an order in which all succeed. `from`: a version of the editor. */
export const agentCalls: Readonly<Record<string, AgentCallExample>> = {
  '/v2/crdt/get': { role: 'viewer', data: (place) => ({ ...place, attribution: true, ...editor }) },
  '/v2/crdt/edit': {
    role: 'editor',
    data: (place) => ({ ...place, ...editor, edits: [{ insert: { at: 'end', content: '.' } }] }),
  },
  '/v2/crdt/changes': { role: 'viewer', data: (place, from) => ({ ...place, ...editor, from }) },
  '/v2/crdt/versions/diff': {
    role: 'viewer',
    data: (place, from) => ({ ...place, ...editor, from, format: 'runs' }),
  },
  '/v2/crdt/undo': { role: 'editor', data: (place, from) => ({ ...place, ...editor, from }) },
  '/v2/crdt/branches/create': { role: 'suggester', data: (place) => ({ ...place, ...editor, name: 'idea' }) },
  '/v2/crdt/branches/list': { role: 'viewer', data: (place) => ({ ...place, ...editor }) },
  '/v2/crdt/branches/get': { role: 'viewer', data: (place) => ({ ...place, ...editor, name: 'idea' }) },
  '/v2/crdt/branches/diff': { role: 'viewer', data: (place) => ({ ...place, ...editor, name: 'idea' }) },
  '/v2/crdt/branches/delete': { role: 'suggester', data: (place) => ({ ...place, ...editor, name: 'idea' }) },
  '/v2/commentannotations/get': { role: 'viewer', data: (place) => place },
  '/v2/commentannotations/add': {
    role: 'suggester',
    data: (place) => ({ ...place, annotations: [{ comments: [{ text: 'Why?' }] }] }),
  },
  '/v2/commentannotations/comments/get': {
    role: 'viewer',
    data: (place) => ({ ...place, annotationId: `thread-${place.documentId}` }),
  },
  '/v2/commentannotations/comments/add': {
    role: 'suggester',
    data: (place) => ({ ...place, annotationId: `thread-${place.documentId}`, comments: [{ text: 'Yes.' }] }),
  },
  '/v2/presence/add': { role: 'viewer', data: (place) => ({ ...place, users: [{ status: 'online' }] }) },
  '/v2/presence/delete': { role: 'viewer', data: (place) => ({ ...place, userIds: ['bot'] }) },
}
