/** The user as which the console acts, as other users see it. */
export const consoleUser = { id: 'console', name: 'Console' } as const
