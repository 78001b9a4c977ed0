// SPDX-License-Identifier: Apache-2.0
// The contracts of the demo. test/contracts/build.mjs writes their compiled form beside them.
pragma solidity ^0.8.20;

/// A token with what a transfer needs, and no more: the demo's own chain is its only home.
contract DemoCoin {
    string public constant name = "Demo Coin";
    string public constant symbol = "DEMO";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        balanceOf[msg.sender] = 1e12;
        emit Transfer(address(0), msg.sender, 1e12);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Passes on the coins of a call: an internal transaction.
contract Forwarder {
    function forward(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
    }
}
