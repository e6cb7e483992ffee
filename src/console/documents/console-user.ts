/** User that the console acts as. Other users see this name. */
export const consoleUser = { id: 'console', name: 'Console' } as const
