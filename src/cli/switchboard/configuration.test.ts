import { expect, test } from 'vitest';
import { standardFormat } from '../kit/output.ts';
import { mcpProxyServer, switchboard } from './variants.ts';
import { chosenLogLevel } from './configuration.ts';

test('the flag comes before SWITCHBOARD_LOG_LEVEL, and that before the variable of the program', () => {
  const env = { SWITCHBOARD_LOG_LEVEL: 'error', MCP_PROXY_LOG_LEVEL: 'debug' };
  expect(chosenLogLevel('warn', env, mcpProxyServer)).toBe('warn');
  expect(chosenLogLevel(undefined, env, mcpProxyServer)).toBe('error');
  expect(chosenLogLevel(undefined, { ...env, SWITCHBOARD_LOG_LEVEL: '' }, mcpProxyServer)).toBe('debug');
  expect(chosenLogLevel(undefined, { ...env, SWITCHBOARD_LOG_LEVEL: '' }, switchboard)).toBeUndefined();
  expect(chosenLogLevel(undefined, { MCP_PROXY_LOG_LEVEL: '' }, mcpProxyServer)).toBeUndefined();
});

test.each(['warn', 'INFO', 'verbose'])(
  'MCP_PROXY_LOG_LEVEL=%s is refused, unless it does not count',
  (level) => {
    const env = { MCP_PROXY_LOG_LEVEL: level };
    expect(() => chosenLogLevel(undefined, env, mcpProxyServer)).toThrow(
      'MCP_PROXY_LOG_LEVEL must be "debug" or "info".',
    );
    expect(chosenLogLevel('info', env, mcpProxyServer)).toBe('info');
    try {
      chosenLogLevel(undefined, env, mcpProxyServer);
    } catch (error) {
      expect(standardFormat('switchboard').exitCodeOf(error)).toBe(78);
    }
  },
);
