import type { ComponentType } from 'preact'
import { useAsync } from '../api/hooks.ts'
import type { ContentViewProps } from './content/root-content.tsx'

type ViewModule = Promise<{ readonly View: ComponentType<ContentViewProps> }>

/** The views of an editor that load their code on demand. */
const views: Readonly<Record<string, () => ViewModule>> = {
  authors: async () => ({ View: (await import('./authorship/authors-view.tsx')).AuthorsView }),
  history: async () => ({ View: (await import('./authorship/history-view.tsx')).HistoryView }),
  branches: async () => ({ View: (await import('./branches/branches-view.tsx')).BranchesView }),
  versions: async () => ({ View: (await import('./versions/version-list.tsx')).VersionList }),
  edit: async () => ({ View: (await import('./content/edit-view.tsx')).EditView }),
  replace: async () => ({ View: (await import('./content/replace-view.tsx')).ReplaceView }),
  schema: async () => ({ View: (await import('./content/schema-view.tsx')).SchemaView }),
}

interface EditorViewProps extends ContentViewProps {
  readonly name: string
}

/** Shows a view of an editor; nothing if there is no view with this name. */
export function EditorView({ name, ...props }: EditorViewProps) {
  const { data, error } = useAsync(async () => (await views[name]?.()) ?? null, name)
  if (error !== null) return <p role="alert">The server did not return this page.</p>
  if (data === null) return views[name] === undefined ? null : <p class="hint">Reading…</p>
  return <data.View {...props} />
}
