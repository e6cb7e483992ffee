import { folderDeletion } from '../../../folder-deletion.ts'

export const deleteFolder = folderDeletion(2)
