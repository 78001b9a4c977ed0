// SPDX-License-Identifier: Apache-2.0
// The contracts of the end-to-end tests and of bench/. build.mjs makes the compiled form beside it.
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// A fungible token with six decimals.
contract Coin is ERC20 {
    constructor() ERC20("Test Coin", "COIN") {
        _mint(msg.sender, 1e30);
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// One Transfer to each of `count` accounts from `first` on.
    function spray(uint160 first, uint256 count, uint256 amount) external {
        for (uint256 i = 0; i < count; i++) _transfer(msg.sender, address(first + uint160(i)), amount);
    }
}

contract Collectible is ERC721 {
    constructor() ERC721("Test Collectible", "ITEM") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}

contract Multi is ERC1155 {
    constructor() ERC1155("ipfs://{id}") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] memory ids, uint256[] memory amounts) external {
        _mintBatch(to, ids, amounts, "");
    }
}

/// A token of 2017: name and symbol in one word each, an amount that nothing indexes, no decimals.
contract OldCoin {
    bytes32 public constant name = "Old Coin";
    bytes32 public constant symbol = "OLD";

    event Transfer(address indexed from, address indexed to, uint256 value);

    function transfer(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }
}

contract Child {
    constructor() payable {}

    function die(address payable to) external {
        selfdestruct(to);
    }

    receive() external payable {}
}

/// Moves coins in every way in which a contract can, and in some in which it cannot.
contract Mover {
    function split(address payable[] calldata to) public payable {
        uint256 part = msg.value / to.length;
        for (uint256 i = 0; i < to.length; i++) send(to[i], part);
    }

    function send(address payable to, uint256 value) private {
        (bool ok, ) = to.call{value: value}("");
        require(ok);
    }

    /// One level deeper.
    function nested(address payable other, address payable[] calldata to) external payable {
        Mover(other).split{value: msg.value}(to);
    }

    /// Half of the value goes into a call that pays and then reverts: that half stays here. A quarter arrives.
    function halfFails(address payable to) external payable {
        try this.paysAndReverts{value: msg.value / 2}(to) {} catch {}
        send(to, msg.value / 4);
    }

    function paysAndReverts(address payable to) external payable {
        send(to, msg.value);
        revert("as wanted");
    }

    /// Reverts as a whole.
    function allFails(address payable to) external payable {
        send(to, msg.value);
        revert("as wanted");
    }

    /// The code of `other` with this contract's value: the delegate call itself moves nothing, the calls in it do.
    function delegated(address other, address payable[] calldata to) external payable {
        (bool ok, ) = other.delegatecall(abi.encodeCall(this.split, (to)));
        require(ok);
    }

    function create() external payable returns (address) {
        return address(new Child{value: msg.value}());
    }

    /// Creates a child and has it pay everything out with its end.
    function createAndEnd(bytes32 salt, address payable to) external payable {
        Child child = new Child{value: msg.value, salt: salt}();
        child.die(to);
    }

    receive() external payable {}
}

/// Stands where the OP stack has its contract of this name.
contract GasPriceOracle {
    function getL1Fee(bytes memory data) external pure returns (uint256) {
        return 1_000_000_000 * data.length;
    }

    function getOperatorFee(uint256 gas) external pure returns (uint256) {
        return 7 * gas;
    }
}
