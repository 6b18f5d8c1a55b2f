/**
 * Replaces `vitest` in bundled tests with its parts in plain JavaScript: the rest needs programs that are not installed
 * for Windows where the tests are bundled.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  chai,
  getState,
  setState,
} from '@vitest/expect';

export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  it,
  onTestFailed,
  onTestFinished,
  suite,
  test,
} from '@vitest/runner';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = Object.assign(
  (value, message) => chai.expect(value, message),
  chai.expect,
  globalThis[ASYMMETRIC_MATCHERS_OBJECT],
);
expect.extend = (matchers) => chai.expect.extend(expect, matchers);
expect.getState = () => getState(expect);
expect.setState = (state) => setState(state, expect);
expect.unreachable = (message) => chai.assert.fail(message ?? 'this must not be reached');
setState({ assertionCalls: 0, isExpectingAssertions: false }, expect);
globalThis[Symbol.for('expect-global')] = expect;
