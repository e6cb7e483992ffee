import { expect, it } from 'vitest'
import {
  type Folder,
  folderPathText,
  foldersByParent,
  moveTargets,
} from '../../../src/console/folders/folder-names.ts'

const folder = (folderId: string, ancestors: readonly string[], folderName = ''): Folder => ({
  organizationId: 'acme',
  apiKey: 'key',
  folderId,
  folderName,
  parentFolderId: ancestors.at(-1) ?? 'root',
  ancestors,
  accessType: 'public',
  inheritAccessFromParent: true,
  createdAt: 0,
  lastUpdated: 0,
})

const folders = [
  folder('z', ['root'], 'Archive'),
  folder('reports', ['root'], 'Reports'),
  folder('y2026', ['root', 'reports'], '2026'),
  folder('q1', ['root', 'reports', 'y2026']),
]

it('[CON-40] shows folders as a tree, sorted by name, or by id if they have no name', () => {
  const children = foldersByParent(folders)
  expect(children.get('root')?.map(({ folderId }) => folderId)).toEqual(['z', 'reports'])
  expect(children.get('y2026')?.map(({ folderId }) => folderId)).toEqual(['q1'])
  expect(folderPathText(folders, folder('q1', ['root', 'reports', 'y2026']))).toBe('Reports / 2026 / q1')
})

it('[CON-40] does not offer a folder itself or the folders inside it as its new parent', () => {
  expect(moveTargets(folders, 'reports').map(([id]) => id)).toEqual(['root', 'z'])
  expect(moveTargets(folders).map(([id]) => id)).toEqual(['root', 'z', 'reports', 'y2026', 'q1'])
})
